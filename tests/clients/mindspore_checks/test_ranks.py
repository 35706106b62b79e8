# SPDX-License-Identifier: Apache-2.0
"""Ranks that MindSpore's msrun starts."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def test_ranks_of_msrun_train_the_same_weights(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    scripts = Path(sys.executable).parent
    run = subprocess.run(
        [scripts / "msrun", "--worker_num=2", "--local_worker_num=2", f"--master_port={port}",
         f"--log_dir={tmp_path}", "--join=True", "--cluster_time_out=120",
         HERE / "programs/data_parallel.py"],
        env=os.environ | {"OPENACLNN_DEVICE_COUNT": "2",
                          "PATH": f"{scripts}:{os.environ['PATH']}"},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    logs = {each.name: each.read_text(errors="replace") for each in tmp_path.glob("worker_*.log")}
    assert run.returncode == 0, run.stderr[-2000:] + "".join(logs.values())[-2000:]
    weights = [re.search(rf"rank {rank} of 2: (\w+)", logs[f"worker_{rank}.log"]) for rank in (0, 1)]
    assert None not in weights and weights[0][1] == weights[1][1]
