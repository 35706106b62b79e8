# SPDX-License-Identifier: Apache-2.0
"""What a job of continuous integration is told to do: the action, the jobs of the page, the image.

The commands run from their own text, in an empty environment that has no network, with a wheel that
is put together here. No builder is asked for the image: its recipe is read.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from functools import partial
from pathlib import Path

import pytest
import yaml

from openaclnn import __version__
from openaclnn.native import libraries

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
PAGE = (ROOT / "docs/tutorials/ci.md").read_text("utf-8")
TEMPLATE = ROOT / "examples/ci"
JOBS = {
    name: yaml.safe_load(text)
    for name, text in re.findall(r"<!-- file: (\S+\.yml) -->\n```yaml\n(.*?)^```", PAGE, re.M | re.S)
}
CONTAINER = (ROOT / "Containerfile").read_text("utf-8")

TESTS = """
import ctypes
import os
import pytest

import openaclnn.native.runtime

acl = ctypes.CDLL("libascendcl.so")
acl.aclrtGetSocName.restype = ctypes.c_char_p

@pytest.mark.npu(torch=False)
def test_product():
    openaclnn.native.runtime.start()
    assert acl.aclrtGetSocName().decode() == os.environ["OPENACLNN_SOC"]
"""
MISTAKE = TESTS + """
@pytest.mark.npu(torch=False)
def test_mistake():
    acl.aclInit(None)
    assert acl.aclrtFree(ctypes.c_void_p(64)) != 0
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """As scikit-build-core makes it: the package, the toolkit in it, what pyproject.toml says."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    points = {"console_scripts": project["scripts"], **project["entry-points"]}
    information = {
        "METADATA": f"Metadata-Version: 2.1\nName: openaclnn\nVersion: {__version__}\n"
        + "".join(f"Requires-Dist: {each}\n" for each in project["dependencies"]),
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n",
        "entry_points.txt": "".join(
            f"[{group}]\n" + "".join(f"{name} = {where}\n" for name, where in names.items())
            for group, names in points.items()
        ),
    }
    file = tmp_path_factory.mktemp("wheel") / f"openaclnn-{__version__}-py3-none-any.whl"
    listed = []
    with zipfile.ZipFile(file, "w") as archive:
        for folder, where in (
            (ROOT / "python/openaclnn", "openaclnn"),
            (libraries.find().resolve(), "openaclnn/cann"),
        ):
            for each in sorted(folder.rglob("*")):
                if each.is_file() and not each.is_symlink() and each.suffix != ".pyc":
                    listed.append(f"{where}/{each.relative_to(folder)}")
                    archive.write(each, listed[-1])
        for name, text in information.items():
            listed.append(f"openaclnn-{__version__}.dist-info/{name}")
            archive.writestr(listed[-1], text)
        record = f"openaclnn-{__version__}.dist-info/RECORD"
        archive.writestr(record, "".join(f"{each},,\n" for each in [*listed, record]))
    return file


@pytest.fixture
def job(wheel, tmp_path):
    """Runs a step as a runner does, where the packages that openaclnn needs are there already."""
    site = tmp_path / "site"
    site.mkdir()
    for folder in reversed([Path(each) for each in sys.path if each.endswith("-packages")]):
        for each in folder.iterdir():
            if "openaclnn" not in each.name and each.suffix != ".pth":
                (site / each.name).unlink(missing_ok=True)
                (site / each.name).symlink_to(each)
    environment = tmp_path / "python"
    venv.create(environment, symlinks=True)
    pip = environment / "bin/pip"
    pip.write_text('#!/bin/sh\nexec python -m pip "$@"\n')
    pip.chmod(0o755)
    place = tmp_path / "checkout"
    place.mkdir()
    shutil.copy(wheel, place)
    variables = {
        "PATH": f"{environment / 'bin'}:/usr/bin:/bin",
        "PYTHONPATH": str(site),
        "PIP_NO_INDEX": "1",
        "HOME": str(tmp_path),
        "GITHUB_ACTION_PATH": str(ROOT),
        "ASCEND_GLOBAL_LOG_LEVEL": "4",
    }

    def run(script: str, **environment) -> subprocess.CompletedProcess:
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=place,
            env={**variables, **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run, place


def act(run, **given) -> subprocess.CompletedProcess:
    """The steps of the action, one after the other, as far as they get."""
    inputs = {name: each["default"] for name, each in ACTION["inputs"].items()}
    assert given.keys() <= inputs.keys()
    inputs |= given
    for step in ACTION["runs"]["steps"]:
        assert step["shell"] == "bash"
        named = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: inputs[match[1]], text)
            for name, text in step.get("env", {}).items()
        }
        assert not [text for text in named.values() if "${{" in text]
        assert "${{" not in step["run"]  # what a user gives is no part of the script
        ended = run(step["run"], **named)
        if ended.returncode:
            break
    return ended


def steps(soc: str) -> tuple[dict, str]:
    """What the page gives to the action, and the command after it."""
    *_, setup, last = JOBS["test.yml"]["jobs"]["npu"]["steps"]
    assert setup["uses"] == "OWNER/openaclnn@REF"
    return setup["with"], last["run"].replace("${{ matrix.soc }}", soc)


def test_the_action_and_the_job_after_it(job):
    run, place = job
    products = JOBS["test.yml"]["jobs"]["npu"]["strategy"]["matrix"]["soc"]
    given, command = steps(products[1])
    ended = act(run, **given)
    assert ended.returncode == 0, ended
    assert re.search(rf"toolkit\s+{re.escape(str(place.parent))}/python/lib", ended.stdout), ended
    (place / "test_it.py").write_text(TESTS)
    ended = run(command)
    assert ended.returncode == 0 and "1 passed" in ended.stdout, ended
    assert f", {products[1]}, checks full" in ended.stdout
    (place / "test_it.py").write_text(MISTAKE)
    ended = run(steps(products[0])[1])
    assert ended.returncode == 1 and "1 failed, 1 passed" in ended.stdout, ended
    (place / "test_it.py").write_text("import pytest\n@pytest.mark.npu\ndef test_it(): pass\n")
    ended = run(command, PYTHONPATH=f"{place}:{place.parent / 'site'}")
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR and "torch_npu" in ended.stderr, ended


def test_the_job_of_gitlab(job):
    run, place = job
    (place / "test_it.py").write_text(TESTS)
    npu = JOBS["gitlab-ci.yml"]["npu"]
    (matrix,) = npu["parallel"]["matrix"]
    ended = run("\n".join(npu["script"]), SOC=matrix["SOC"][0])
    assert ended.returncode == 0 and f", {matrix['SOC'][0]}, checks full" in ended.stdout, ended
    assert (place / npu["artifacts"]["reports"]["junit"]).stat().st_size > 0


@pytest.fixture
def template(job):
    """The folder of examples/ci as a job finds it in a repository, its wheel beside it."""
    run, place = job
    for each in TEMPLATE.iterdir():
        if each.is_file():
            shutil.copy(each, place)
    return run, place


def template_job(name: str) -> dict:
    return yaml.safe_load((TEMPLATE / name).read_text("utf-8"))


def expect_one_passed_one_skipped(ended: subprocess.CompletedProcess, soc: str) -> None:
    assert ended.returncode == 0 and "1 passed, 1 skipped" in ended.stdout, ended
    assert "needs torch and torch_npu, not installed here" in ended.stdout
    assert f", {soc}, checks full" in ended.stdout


def test_the_template_for_github(template):
    run, _ = template
    npu = template_job("github.yml")["jobs"]["npu"]
    (_, _, setup, requirements, last) = npu["steps"]
    assert setup["uses"] == "OWNER/openaclnn@REF"
    ended = act(run, **setup["with"])
    assert ended.returncode == 0, ended
    assert run(requirements["run"]).returncode == 0
    for soc in npu["strategy"]["matrix"]["soc"]:
        ended = run(last["run"].replace("${{ matrix.soc }}", soc))
        expect_one_passed_one_skipped(ended, soc)


def test_the_template_for_gitlab(template):
    run, place = template
    npu = template_job("gitlab-ci.yml")["npu"]
    (matrix,) = npu["parallel"]["matrix"]
    ended = run("\n".join(npu["script"]), SOC=matrix["SOC"][0])
    expect_one_passed_one_skipped(ended, matrix["SOC"][0])
    assert (place / npu["artifacts"]["reports"]["junit"]).stat().st_size > 0
    # Where everything has to be there, the second test is an error.
    ended = run("python -m pytest --npu-required")
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR and "torch_npu" in ended.stderr, ended


def test_the_template_names_its_files_and_the_versions_of_the_project():
    page = (TEMPLATE / "README.md").read_text("utf-8")
    named = set(re.findall(r"^\| `(.*?)` \|", page, re.M))
    assert named | {"README.md"} == {each.name for each in TEMPLATE.iterdir() if each.is_file()}
    listed = (TEMPLATE / "requirements.txt").read_text("utf-8").replace("\n# ", "\n").splitlines()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {*extras["test"], *extras["torch"]} <= {*listed}


@pytest.mark.parametrize(
    "given, words",
    [
        ({"wheel": "no-*.whl"}, "wheel is 'no-*.whl', which 0 files match, expected one"),
        ({"wheel": "*"}, "wheel is '*', which 2 files match, expected one"),
        ({}, "wheel and version are missing, expected one: a file, a version such as 0.2.0"),
        ({"wheel": "o*.whl", "version": "0.2.0"}, "wheel is 'o*.whl' and version is '0.2.0', expected one"),
        ({"version": "0.2.0 pytest"}, "version is '0.2.0 pytest', expected numbers such as 0.2.0, or source"),
        ({"version": "-r"}, "version is '-r', expected numbers such as 0.2.0, or source"),
        ({"version": "77.0.1"}, "pip finds no openaclnn 77.0.1 where it looks"),
        ({"wheel": "o*.whl", "torch": "2.8.0"}, "torch is 2.8.0 and torch-npu is missing"),
        ({"wheel": "o*.whl", "torch-npu": "2.8.0"}, "torch-npu is 2.8.0 and torch is missing"),
    ],
)
def test_what_the_action_refuses(job, given, words):
    run, place = job
    (place / "other").touch()
    ended = act(run, **given)
    assert ended.returncode == 1 and f"::error::{words}" in ended.stdout, ended


def test_the_action_takes_a_version_where_pip_looks(job):
    run, place = job
    ended = act(partial(run, PIP_FIND_LINKS=str(place)), version=__version__)
    assert ended.returncode == 0, ended
    assert re.search(rf"toolkit\s+{re.escape(str(place.parent))}/python/lib", ended.stdout), ended


def test_the_action_builds_its_own_tree_where_asked_for(job, tmp_path):
    """With programs that say what they are asked to do: a build takes minutes."""
    run, _ = job
    (tmp_path / "action/scripts/packaging").mkdir(parents=True)
    for name in ("python/bin/python", "action/scripts/setup.sh", "action/scripts/packaging/install_torch.sh"):
        (tmp_path / name).unlink(missing_ok=True)
        (tmp_path / name).write_text('#!/bin/sh\necho "$0 $*" >>"$HOME/said"\n')
        (tmp_path / name).chmod(0o755)
    ended = act(
        lambda script, **named: run(script, GITHUB_ACTION_PATH=f"{tmp_path}/action", **named),
        version="source",
        torch="2.8.0",
        **{"torch-npu": "2.8.0.post5"},
    )
    assert "openaclnn: command not found" in ended.stderr
    said = (tmp_path / "said").read_text().replace(f"{tmp_path}/", "").splitlines()
    assert said == [
        "action/scripts/setup.sh packages",
        f"python/bin/python -m pip install {tmp_path}/action pytest".replace(f"{tmp_path}/", ""),
        "action/scripts/packaging/install_torch.sh python 2.8.0 2.8.0.post5",
    ]
    assert all(os.access(ROOT / "scripts" / f"{name}.sh", os.X_OK) for name in ("setup", "packaging/install_torch"))


def test_products_of_the_jobs_are_some():
    products = libraries.load().support.products
    (gitlab,) = JOBS["gitlab-ci.yml"]["npu"]["parallel"]["matrix"]
    github = JOBS["test.yml"]["jobs"]["npu"]["strategy"]["matrix"]["soc"]
    assert gitlab["SOC"] == github and set(github) <= set(products)
    (gitlab,) = template_job("gitlab-ci.yml")["npu"]["parallel"]["matrix"]
    github = template_job("github.yml")["jobs"]["npu"]["strategy"]["matrix"]["soc"]
    assert gitlab["SOC"] == github and set(github) <= set(products)


def instructions() -> list[tuple[str, str]]:
    lines = [each for each in CONTAINER.splitlines() if not each.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [tuple(each.split(None, 1)) for each in joined.splitlines() if each.strip()]


def test_the_image_is_of_known_instructions():
    names = [name for name, _ in instructions()]
    assert set(names) <= {"FROM", "ARG", "RUN", "COPY", "ENV", "USER", "WORKDIR", "CMD"}
    bases = [rest.split()[0] for name, rest in instructions() if name == "FROM"]
    assert set(bases) == {"docker.io/library/debian:12-slim"}  # the same, as Python and glibc move
    users = [rest for name, rest in instructions() if name == "USER"]
    assert users == ["user"] and names.index("USER") > len(names) - 4


def test_what_the_image_copies_is_there():
    stages = re.findall(r"^FROM \S+ AS (\w+)$", CONTAINER, re.M)
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".git", ".venv", "build", "dist/*", "!dist/*.whl"} <= set(ignored)
    for rest in (rest for name, rest in instructions() if name == "COPY"):
        flag = re.match(r"--from=(\w+) ", rest)
        assert flag is None or flag[1] in stages
    named = re.findall(r"/source/(\S+)", CONTAINER)
    assert named == ["scripts/setup.sh"] and all((ROOT / each).is_file() for each in named)
    assert ("ARG", "PACKAGE=/source") in instructions()


def test_the_image_s_commands_are_shell():
    for name, rest in instructions():
        if name == "RUN":
            ended = subprocess.run(["bash", "-n", "-c", rest], capture_output=True, text=True)
            assert (ended.returncode, ended.stderr) == (0, ""), rest
            assert "apt-get" not in rest or (
                rest.startswith("apt-get update")
                and "install -y --no-install-recommends" in rest
                and rest.endswith("rm -rf /var/lib/apt/lists/*")
            )
    assert re.search(r"^\s+packages\) ", (ROOT / "scripts/setup.sh").read_text(), re.M)


def test_the_image_has_what_the_libraries_open():
    packages = re.search(r"run_packages=\((.*)\)", (ROOT / "scripts/setup.sh").read_text())[1]
    assert "libucx-dev" in packages and any("libucx0" in rest for _, rest in instructions())
    tests = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"'{tests['optional-dependencies']['test'][0]}'" in CONTAINER
