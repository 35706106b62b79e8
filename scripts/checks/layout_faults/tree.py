# SPDX-License-Identifier: Apache-2.0
"""A small tree without faults, to plant one in."""

from layout.rooms import ROOM_FILES
from layout.source import read_tree

SPDX = "SPDX-License-Identifier: Apache-2.0"
CC = f"// {SPDX}\n// Says what the file is.\n"
PY = f'# {SPDX}\n"""Says what the file is."""\n'
TOML = f"# {SPDX}\n# Says what the file is.\n"


def including(*paths):
    return CC + "".join(f'#include "{path}"\n' for path in paths)


def room(path):
    """The files of src/opapi/`path`/, good ones."""
    tree = {f"src/opapi/{path}/{name}": CC for name in ROOM_FILES}
    return tree | {f"src/opapi/{path}/README.md": "# A room\n"}


def good_tree():
    """The files of a tree without faults: two families, records, and tests that outweigh them."""
    tree = room("add/forward") | room("add/backward") | room("mul_all/forward")
    return tree | {
        "src/opapi/add/shared.h": CC,
        "src/opapi/supporting/README.md": "# Records\n",
        "src/opapi/supporting/engine.h": CC,
        "src/opapi/supporting/reduce/operators.toml": TOML + '[[operator]]\nname = "Sum"\n',
        "src/opapi/supporting/reduce/sum.h": CC,
        "src/opapi/supporting/order/operators.toml": TOML,
        "src/ascendcl/stream/event.cc": CC,
        "src/ascendcl/stream/event.h": CC,
        "src/common/status.h": CC,
        "src/nnopbase/tensor.h": CC,
        "src/frame/checker.h": CC,
        "src/kernels/simd/lanes-inl.h": CC,
        "src/companions/graph/library.cc": CC,
        "src/companions/atb/operation.h": CC,
        "src/tool/roof.cc": CC,
        "include/aclnnop/aclnn_add.h": CC,
        "tests/ascendcl/event_test.cc": CC + "\n" * 480,
        "python/openaclnn/cli.py": PY,
    }


def write(tmp_path, files):
    for path, text in {**good_tree(), **files}.items():
        if text is not None:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
    return read_tree(tmp_path)
