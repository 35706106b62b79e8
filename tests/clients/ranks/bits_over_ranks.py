# SPDX-License-Identifier: Apache-2.0
"""One rank of test_ranks.py: the splits of openaclnn.distributed against one rank's operators.

    openaclnn run --ranks 3 -- python bits_over_ranks.py DEVICE BACKEND FAMILY …

Forward and gradient go through the functions of torch.autograd; what one rank would have each rank
computes itself. A family is a module of over_ranks; of each and each dtype a line is printed.
"""

import datetime
import importlib
import os
import sys

import torch
import torch.distributed as dist
from over_ranks.rank import Rank

from openaclnn.distributed.tensors import to_numpy


def same(got: torch.Tensor, wanted: torch.Tensor) -> bool:
    got, wanted = (to_numpy(each.detach().cpu()) for each in (got, wanted))
    of_kind = (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    return of_kind and got.tobytes() == wanted.tobytes()


def main() -> int:
    device, backend, *names = sys.argv[1:]
    if device == "npu":
        import torch_npu  # noqa: F401  (makes the device known)

        torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group(backend, timeout=datetime.timedelta(seconds=120))
    rank, failed = Rank(device), 0
    for name in names:
        family = importlib.import_module(f"over_ranks.{name}")
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            alike = [same(*pair) for pair in family.pairs(rank, dtype)]
            failed += not all(alike)
            print(f"{name} {dtype}: {'same' if all(alike) else f'DIFFERENT {alike}'}", flush=True)
    dist.destroy_process_group()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
