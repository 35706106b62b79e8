# SPDX-License-Identifier: Apache-2.0
"""Arguments of operators on lists of places: slices of batches, sparse tensors, decoding steps."""

import numpy as np

from cases import PLACES, Case, Draw, fill
from more_cases import _full, _index, _moved


def gather_v3(d: Draw) -> Case:
    shape = _full(d)
    dim = d.whole(0, len(shape) - 1, walk=0)
    batches = d.whole(0, dim, walk=0)
    own = [*shape[:batches], *(d.whole(1, 4, walk=64) for _ in range(d.whole(0, 2, walk=1)))]
    index = _index(d, shape[dim], own, d.flag())
    given = {"self": d.array(shape), "dim": dim - len(shape) * d.whole(0, 1), "index": index,
             "batchDims": batches, "mode": d.whole(0, 1)}  # fmt: skip
    return _moved(d, given)


def scatter_list(d: Draw) -> Case:
    shape, count = _full(d), d.whole(1, 3, walk=4)
    axis = d.whole(0, len(shape) - 1, walk=0)
    part = [count, *shape]
    part[axis + 1] = d.whole(1, shape[axis])
    places = d.random.integers(0, shape[axis] - part[axis + 1] + 1, count).astype(d.one(PLACES))
    given = {"varRef": [d.array(shape) for _ in range(count)], "indice": places,
             "updates": d.array(part), "axis": axis - len(shape) * d.whole(0, 1),
             "mask": d.array((count,), np.uint8, "mask") if d.flag() else None, "reduce": "update"}  # fmt: skip
    return _moved(d, given)


def coalesce(d: Draw) -> Case:
    """More rows than are left, or fewer."""
    given, left, kind = d.whole(1, 6, walk=2**17), d.whole(1, 4, walk=2**14), d.one(PLACES)
    rows = d.random.integers(0, left, given).astype(kind)
    rest = [d.whole(1, 4, walk=16) for _ in range(d.whole(0, 2, walk=1))]
    arguments = {
        "uniqueLen": np.arange(left).astype(kind), "uniqueIndices": rows,
        "indices": d.random.integers(0, 99, (given, d.whole(1, 3))).astype(d.one(PLACES)),
        "values": d.array((given, *rest), d.type_of("values"), "small"),
    }  # fmt: skip
    outputs = {"newIndices": arguments["indices"].dtype, "newValues": arguments["values"].dtype}
    return Case(fill(d, arguments), "stored", outputs)


def _tables(d: Draw, count: int):
    """Blocks of sequences, and how many slots these have room for."""
    blocks, size = d.whole(1, 4, walk=1024), d.whole(1, 5, walk=16)
    tables = d.random.integers(0, 100, (count, blocks))
    return {"blockTables": tables, "blockSize": size}, blocks * size


def advance_step(d: Draw) -> Case:
    count = d.whole(1, 5, walk=256)
    queries = d.whole(1, count, walk=count)
    given, room = _tables(d, count)
    given |= {"sampledTokenIds": d.random.integers(0, 1000, (queries, 1)), "numSeqs": count,
              "numQueries": queries, "seqLens": d.random.integers(0, room, count)}  # fmt: skip
    return _moved(d, given)


def advance_step_v2(d: Draw) -> Case:
    if d.flag():
        case = advance_step(d)
        rest = {"specToken": None, "acceptedNum": None}
        case.arguments |= rest | {"inputPositions": d.random.integers(0, 9, case.arguments["numSeqs"])}
        return case
    count, spec = d.whole(1, 4, walk=256), d.whole(0, 3, walk=2)
    given, room = _tables(d, count)
    accepted = d.random.integers(0, spec + 1, count)
    most = room - 1 - accepted.repeat(1 + spec)
    sampled = d.random.integers(0, 1000, (count, 1 + spec))
    sampled[np.arange(1 + spec) > accepted[:, None]] = -1
    given |= {
        "inputPositions": np.array([d.whole(-1, max(int(n) - 1, -1)) for n in most]).clip(max=most - 1),
        "sampledTokenIds": sampled, "specToken": d.random.integers(0, 1000, (count, spec)),
        "acceptedNum": accepted, "numSeqs": count, "numQueries": count,
        "seqLens": d.random.integers(0, 9, count * (1 + spec)),
    }  # fmt: skip
    given["inputPositions"] = given["inputPositions"].clip(min=-1 - accepted.repeat(1 + spec))
    return _moved(d, given)
