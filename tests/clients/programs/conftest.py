# SPDX-License-Identifier: Apache-2.0
"""What the clients without PyTorch share: an environment as set_env.sh makes it, and a compiler."""

import os
import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def toolkit():
    return Path(os.environ["ASCEND_HOME_PATH"])


@pytest.fixture
def build(toolkit, tmp_path):
    """Compiles one source with `compiler` against the libraries of these names."""

    def run(compiler, source, names):
        program = tmp_path / source.stem
        command = [*compiler, source, f"-I{toolkit}/include", f"-L{toolkit}/lib64"]
        libraries = [f"-l{name}" for name in names]
        subprocess.run([*command, *libraries, "-o", program], check=True)
        return program

    return run
