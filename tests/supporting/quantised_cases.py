# SPDX-License-Identifier: Apache-2.0
"""Arguments of operators that make numbers whole, and floats again."""

import numpy as np

from cases import PLACES, Case, Draw, fill

from openaclnn import dtypes
from openaclnn.dtypes import BFLOAT16

FLOAT = np.dtype(np.float32)
HALVES = (np.dtype(np.float16), BFLOAT16)
EIGHT = np.dtype(np.int32)  # elements of eight INT4


def number_of(dtype) -> int:
    return dtypes.of(np.dtype(dtype)).number


def _shape(d: Draw, least: int, whole) -> tuple[int, ...]:
    """One whose last dimension the type of the whole numbers can hold."""
    shape = d.shape(least, max(least, 3), walk=(1024, 2048))
    return (*shape[:-1], 8 * shape[-1]) if whole == EIGHT and shape[-1] % 8 else shape


def _held(d: Draw, name: str) -> np.dtype:
    """A type of whole numbers; NumPy has no arrays of INT4."""
    return d.one(tuple(each for each in d.record.types_of(name) if each.name != "int4"))


def _factors(d: Draw, dtype, shape, offset_type=None) -> tuple:
    """Factors that fill INT8, and summands or none."""
    scale = d.random.uniform(-9, 30, shape).astype(dtype)
    offset = d.random.integers(-9, 10, shape) + d.random.integers(0, 2, shape) / 2
    return scale, offset.astype(offset_type or dtype) if d.flag() else None


def ascend_quant(d: Draw) -> Case:
    whole = _held(d, "y")
    has_axis = any(each.name == "axis" for each in d.record.parameters)
    shape = _shape(d, 2 if has_axis else 1, whole)
    axis = d.one((-1, -2)) if has_axis else -1
    count = d.one((1, shape[axis]), walk=shape[axis])
    spread = (count,)
    if d.flag():
        spread = tuple(count if i == len(shape) + axis else 1 for i in range(len(shape)))
    dtype = d.type_of("scale") if d.first == FLOAT else d.first
    scale, offset = _factors(d, dtype, spread)
    given = {"x": d.array(shape), "scale": scale, "offset": offset, "dstType": number_of(whole)}
    if has_axis:
        given["axis"] = d.one((axis, len(shape) + axis))
    return Case(fill(d, given), "stored", {"y": whole})


def ascend_anti_quant(d: Draw) -> Case:
    held, out = _held(d, "x"), d.type_of("y")
    shape = d.shape(1, 3, walk=(1024, 2048))
    numbers = shape[-1] * (8 if held == EIGHT else 1)
    dtype = d.one(d.record.types_of("scale"))
    scale, offset = _factors(d, dtype, (d.one((1, numbers), walk=numbers),))
    x = d.random.integers(-(2**31), 2**31, shape).astype(held)
    given = {"x": x, "scale": scale, "offset": offset, "dstType": number_of(out)}
    return Case(fill(d, given), "stored", {"y": out})


def quantize(d: Draw) -> Case:
    shape = d.shape(1, 4, walk=(64, 128, 256))
    axis = d.whole(-len(shape), len(shape) - 1)
    count = (d.one((1, shape[axis])),)
    zero = d.type_of("zeroPoints")
    scales = d.random.uniform(0.01, 0.2, count).astype(d.type_of("scales"))
    low = 0 if zero == np.uint8 else -9
    zeros = d.random.integers(low, 10, count).astype(zero) if d.flag() else None
    given = {"x": d.array(shape), "scales": scales, "zeroPoints": zeros, "axis": axis}
    return Case(fill(d, given), "stored", {"out": _held(d, "out")})


def ends_of(d: Draw, rows: int, groups: int, dtype=np.int32) -> np.ndarray:
    """Where groups of rows end, rising to all of them."""
    ends = np.sort(d.random.integers(0, rows + 1, groups))
    ends[-1] = rows
    return ends.astype(dtype)


def group_quant(d: Draw) -> Case:
    whole = _held(d, "y")
    rows, width = _shape(d, 2, whole)[:2] if d.style != "long" else (3, 320)
    width = 8 * width if whole == EIGHT and width % 8 else width
    width += width % 2 * d.whole(0, 1, walk=0)  # INT4 are pairs
    groups = d.whole(1, 4, walk=8)
    scale, offset = _factors(d, d.type_of("scale"), (groups, width))
    offset = None if offset is None else np.array([2.5], scale.dtype)
    given = {"x": d.array((rows, width)), "scale": scale, "offsetOptional": offset,
             "groupIndex": ends_of(d, rows, groups, d.one(PLACES)), "dstType": number_of(whole)}  # fmt: skip
    return Case(given, "stored", {"y": whole})


def dequant_bias(d: Draw) -> Case:
    rows, width = (d.whole(1, 5, walk=1024), d.whole(1, 90, walk=2048))
    x = d.random.integers(-(2**20), 2**20, (rows, width)).astype(np.int32)
    bias = d.array((width,), d.type_of("biasOptional"), "tame") if d.flag() else None
    of_rows = d.array((rows,), FLOAT, "positive") if d.flag() else None
    out = d.one(HALVES)
    given = {"x": x, "weightScale": d.array((width,), d.type_of("weightScale"), "positive"),
             "activateScaleOptional": of_rows, "biasOptional": bias, "outputDtype": number_of(out)}  # fmt: skip
    return Case(given, "stored", {"out": out})


def dynamic_quant(d: Draw) -> Case:
    names = {each.name for each in d.record.parameters}
    d.first = d.first if d.first in HALVES else d.one(HALVES)
    whole = d.one((np.dtype(np.int8), EIGHT))
    shape = _shape(d, 2, whole)
    shape = (*shape[:-1], shape[-1] + shape[-1] % 2 * d.whole(0, 1, walk=0))  # INT4 are pairs
    mode = d.one(("pertoken", "pertensor", "perchannel")) if "quantMode" in names else "pertoken"
    groups = d.whole(1, 4) if "groupIndexOptional" in names and mode == "pertoken" and d.flag() and shape[-1] else 0
    smooth = (groups, shape[-1]) if groups else (shape[-1],)
    rows = int(np.prod(shape[:-1]))
    given = {
        "x": d.array(shape),
        "smoothScalesOptional": d.array(smooth, None, "positive") if groups or d.flag() else None,
        "groupIndexOptional": ends_of(d, rows, groups) if groups else None,
        "dstType": number_of(whole), "quantMode": mode, "isSymmetrical": d.flag(), "dstTypeMax": 0.0,
    }  # fmt: skip
    given = {name: value for name, value in given.items() if name in names}
    outputs = {"yOut": whole, "scaleOut": FLOAT}
    if "offsetOut" in names and not given.get("isSymmetrical", d.flag()):
        outputs["offsetOut"] = FLOAT
    return Case(given, "stored", outputs)


def dynamic_block_quant(d: Draw) -> Case:
    names = {each.name for each in d.record.parameters}
    d.first = d.first if d.first in HALVES else d.one(HALVES)
    d.style = "plain" if d.style in ("empty", "rank 0") else d.style
    given = {"x": d.array(d.shape(2, 3, walk=(1024, 2048))), "minScale": d.one((0.0, 0.01, 0.5)),
             "roundMode": "rint", "dstType": number_of(np.int8), "dstTypeMax": 0.0,
             "rowBlockSize": d.one((1, 2, 128)), "colBlockSize": d.one((128, 3))}  # fmt: skip
    given = {name: value for name, value in given.items() if name in names}
    return Case(given, "stored", {"yOut": np.dtype(np.int8), "scaleOut": FLOAT})


def fake_quant(d: Draw) -> Case:
    names = {each.name for each in d.record.parameters}
    types = (FLOAT, np.dtype(np.float16))
    d.first = d.first if d.first in types else d.one(types)
    d.style = "plain" if "edge" in d.style else d.style
    shape = d.shape(1, 4, walk=(1024, 2048))
    axis = d.whole(-len(shape), len(shape) - 1) if "axis" in names else 0
    count = (shape[axis],) if "axis" in names else d.one(((1,), ()))  # one for all
    given = {"self": d.array(shape, None, "tame"), "axis": axis,
             "scale": d.random.uniform(0.01, 0.05, count).astype(d.one(types)),
             "zeroPoint": d.random.integers(-9, 10, count).astype(np.int32),
             "fakeQuantEnabled": d.one((1.0, 0.0)), "quantMin": -128, "quantMax": 127}  # fmt: skip
    given = {name: value for name, value in given.items() if name in names}
    return Case(given, "stored", {"out": d.first, "mask": np.dtype(bool)})


def quant_scatter(d: Draw) -> Case:
    d.style = "plain" if d.style in ("empty", "long", "rank 0") else d.style
    shape = d.shape(3, 5, walk=(64, 64, 512))
    axis = d.whole(1, len(shape) - 2)
    part = [d.whole(1, n) if i in (0, axis) else n for i, n in enumerate(shape)]
    places = d.random.integers(0, shape[axis] - part[axis] + 1, part[0]).astype(np.int32)
    if d.flag():  # of other batches
        batches = d.random.permutation(shape[0])[: part[0]].astype(np.int32)
        places = np.stack([batches, places], -1)
    zero = d.one((np.dtype(np.int32), BFLOAT16))
    zeros = d.random.integers(-9, 10, shape[-1:]).astype(zero) if d.flag() else None
    given = {"selfRef": d.array(shape, np.int8), "indices": places,
             "updates": d.array(part, d.one(HALVES), "tame"), "quantZeroPoints": zeros,
             "quantScales": d.random.uniform(0.01, 0.05, shape[-1:]).astype(d.one((FLOAT, BFLOAT16))),
             "axis": axis - len(shape) * int(d.flag()), "quantAxis": d.one((-1, len(shape) - 1)),
             "reduction": 1}  # fmt: skip
    return Case(fill(d, given), "stored", {"selfRef": np.dtype(np.int8)})


def trans_quant_param(d: Draw) -> Case:
    width = d.whole(1, 40, walk=2**20)
    shape = d.one(((width,), (1, width)))
    scale = d.array(shape, FLOAT)
    offset = d.one((None, d.array(shape, FLOAT), d.array((1,) * len(shape), FLOAT)))
    if len(shape) == 1 and offset is not None and offset.size == width and d.flag():
        scale = scale[:1]
    given = {"scale": scale, "offset": offset}
    outputs = {"out": d.one((np.dtype(np.uint64), np.dtype(np.int64)))}
    return Case(fill(d, given), "stored", outputs)


def _batches(d: Draw) -> tuple[int, ...]:
    return tuple(d.whole(1, 3) for _ in range(d.whole(0, 2, walk=0)))


def _column_scales(d: Draw, name: str, columns: int, dtype) -> np.ndarray:
    count = (d.one((1, columns), walk=columns),)
    if dtype.kind == "f" or dtype == BFLOAT16:
        return d.random.uniform(0.001, 0.05, count).astype(dtype)
    bits = d.random.uniform(0.001, 0.05, count).astype(np.float32).view(np.uint32).astype(np.uint64)
    bits = (bits & np.uint64(0xFFFFE000)) | np.uint64(1 << 46)
    if d.flag():
        nine = d.random.integers(0, 512, count).astype(np.uint64)
        bits = bits | (nine << np.uint64(37))
    return bits.view(dtype)


def quant_matmul(d: Draw) -> Case:
    names = {each.name for each in d.record.parameters}
    rows_name = next((each for each in ("pertokenScaleOptional", "x1Scale") if each in names), None)
    scale_name = "x2Scale" if "x2Scale" in names else "scale"
    offset_name = "x2Offset" if "x2Offset" in names else "offset"
    held = _held(d, "x1")
    most = d.one(((2, 2, 3), (70, 40, 70))) if d.style != "long" else (2, 3000, 20)
    m, k, n = (d.whole(1, each, walk=512) for each in most)
    m = 0 if d.style == "empty" else m
    even = d.whole(0, 1, walk=0)  # INT4 are pairs
    k, n = (8 * each if held == EIGHT else each + each % 2 * even for each in (k, n))
    batch, turned_1, turned_2 = _batches(d), d.flag() and held == np.int8, d.flag()
    narrow = k // 8 if held == EIGHT else k

    def factor(shape, turned):
        low, high = (-128, 128) if held == np.int8 else (-(2**31), 2**31)
        array = d.random.integers(low, high, shape).astype(held)
        return np.swapaxes(array, -1, -2).copy() if turned else array

    along_terms = held == EIGHT and d.flag()
    x1 = factor((*batch, m, narrow), turned_1)
    x2 = factor((*d.within(batch), narrow, n) if along_terms
                else (*batch, k, n // (8 if held == EIGHT else 1)), turned_2)  # fmt: skip
    out = d.one(d.record.types_of("out"))
    kinds = list(d.record.types_of(scale_name))
    floats = [each for each in kinds if each not in (np.uint64, np.int64)]
    pertoken = rows_name is not None and out != np.int8 and d.flag() and bool(floats)
    kinds = floats if pertoken else kinds
    given = {"x1": x1, "x2": x2, "transposeX1": turned_1, "transposeX2": turned_2, "groupSize": 0,
             scale_name: _column_scales(d, scale_name, n, d.one(kinds))}  # fmt: skip
    if rows_name is not None:
        given[rows_name] = d.array((m,), FLOAT, "positive") if pertoken else None
    given[offset_name] = None
    if out == np.int8 and (d.flag() or d.flag()):
        given[offset_name] = d.array((d.one((1, n)),), FLOAT, "tame")
    given["bias"] = None
    if d.flag() or (out in HALVES and d.flag()):
        types = [each for each in d.record.types_of("bias") if each == EIGHT or out in HALVES]
        of = d.one(types)
        spread = (batch[0], 1, n) if len(batch) == 1 and d.flag() else (n,)
        given["bias"] = d.array(spread, of, "tame")
    given |= dict.fromkeys(("yScale", "x1Offset", "yOffset"))
    given = {name: value for name, value in given.items() if name in names}
    return Case(given, "stored", {"out": out})


def _unwanted(case: Case):
    """Outputs that are left alone may have any shape."""
    case.shapes |= case.room
    return case


def _normal_shape(d: Draw, most: int = 3):
    d.style = "plain" if d.style in ("empty", "rank 0") else d.style
    return d.shape(2, most, walk=(1024, 2048))


def _values(d: Draw, names: dict[str, tuple], given: dict, sample: str = "tame") -> dict:
    """Tensors of x's type."""
    return given | {name: d.array(shape, None, sample) for name, shape in names.items()}


def add_rms_norm_quant(d: Draw) -> Case:
    names = {each.name for each in d.record.parameters}
    shape = _normal_shape(d)
    last = shape[-d.whole(1, len(shape) - 1, walk=1):]
    given = _values(d, {"x1": shape, "x2": shape, "gamma": last}, {})
    if "betaOptional" in names:
        given["betaOptional"] = d.one((None, d.array(last, None, "tame")))
    second, divides = d.flag(), d.flag()
    kind, zero = d.one(d.record.types_of("scales1")), d.one(d.record.types_of("zeroPoints1Optional"))
    for number, wanted in ((1, True), (2, second)):
        low, high = (0.01, 0.1) if divides else (9, 60)
        scale = d.random.uniform(low, high, last).astype(kind) if wanted else None
        points = d.random.integers(-9, 10, last).astype(zero) if wanted and d.flag() else None
        given["scales1" if number == 1 else "scales2Optional"] = scale
        given[f"zeroPoints{number}Optional"] = points
    given |= {"axis": d.one((-1, len(shape) - 1)), "epsilon": d.one((1e-6, 0.5)), "divMode": divides}
    whole = np.dtype(np.int8)
    outputs = {"y1Out": whole, "y2Out": whole, "xOut": d.first}
    case = Case(given, "double", outputs | ({"rmsNormOut": d.first} if "rmsNormOut" in names else {}))
    if not second:
        case.room["y2Out"] = shape
    return _unwanted(case)


def rms_norm_quant(d: Draw) -> Case:
    names = {each.name for each in d.record.parameters}
    d.first = d.first if d.first in HALVES else d.one(HALVES)
    shape = _normal_shape(d)
    shape = (*shape[:-1], shape[-1] * d.one((1, 8), walk=1))  # INT32 are eight INT4
    last = d.one(((shape[-1],), (1, shape[-1])))
    divides, beta = d.flag(), "beta" if "beta" in names else "betaOptional"
    count = d.one(((1,), last), walk=last)
    low, high = (0.01, 0.1) if divides and "divMode" in names else (9, 60)
    offset = d.random.integers(-9, 10, count).astype(np.int8)
    given = _values(d, {"x": shape, "gamma": last, beta: last}, {"epsilon": d.one((1e-6, 0.5))})
    given["scale"] = d.random.uniform(low, high, count).astype(d.first)
    if "divMode" in names:
        given |= {"divMode": divides, "outputRstd": d.flag(walk=True),
                  "offsetOptional": d.one((None, offset))}  # fmt: skip
        given[beta] = d.one((None, given[beta]))
    else:
        given["offset"] = offset
    outputs = {"y": np.dtype(np.int8)} | ({"rstdOut": FLOAT} if "rstdOut" in names else {})
    case = Case(given, "double", outputs)
    if "rstdOut" in names and not given["outputRstd"]:
        case.room["rstdOut"] = (*shape[:-1], 1)
    return _unwanted(case)


def add_rms_norm_dynamic_quant(d: Draw) -> Case:
    names = {each.name for each in d.record.parameters}
    shape = _normal_shape(d)
    last = shape[-1:]
    given = _values(d, {"x1": shape, "x2": shape, "gamma": last}, {"epsilon": d.one((1e-6, 0.5))})
    kind = d.whole(0, 2)
    for number in (1, 2):
        smooth = d.array(last, None, "positive") if kind >= number else None
        given[f"smoothScale{number}Optional"] = smooth
    mask = None
    if "betaOptional" in names:
        given["betaOptional"] = d.one((None, d.array(last, None, "tame")))
        mask = d.one((None, [True, True], [True, False], [False, True]))
        given["outputMaskOptional"] = mask
    wanted = mask or [True, kind == 2]
    whole = np.dtype(np.int8)
    outputs = {"y1Out": whole, "y2Out": whole, "xOut": d.first, "scale1Out": FLOAT, "scale2Out": FLOAT}
    case = Case(given, "double", outputs)
    for number, own in zip((1, 2), wanted, strict=True):
        if not own:
            case.room |= {f"y{number}Out": shape, f"scale{number}Out": shape[:-1]}
    return _unwanted(case)


def _group_numbers(d: Draw, groups: int, width: int, low: float, high: float, dtype=FLOAT):
    shape = d.one(((groups, width), (groups, 1), (groups,)), walk=(groups, width))
    return d.random.uniform(low, high, shape).astype(dtype)


def _index(d: Draw, rows: int, groups: int, lengths: bool, dtype=np.int32):
    ends = ends_of(d, rows, groups, dtype)
    return np.diff(ends, prepend=ends.dtype.type(0)).astype(ends.dtype) if lengths else ends


def swiglu_quant(d: Draw) -> Case:
    names = {each.name for each in d.record.parameters}
    shape = _normal_shape(d)
    shape = (*shape[:-1], shape[-1] + shape[-1] % 2 * d.whole(0, 1, walk=0))  # INT4 are pairs
    shape, rows, width = (*shape[:-1], 2 * shape[-1]), int(np.prod(shape[:-1])), shape[-1]
    grouped, kind = d.flag(), d.whole(0, 1) if "groupListType" in names else 0
    groups = d.whole(1, 3) if grouped else 1
    mode = d.one(("static", "dynamic"))
    given = {
        "x": d.array(shape, None, "tame"),
        "smoothScalesOptional": d.one((None, _group_numbers(d, groups, width, 1, 30))),
        "offsetsOptional": None, "activateLeft": d.flag(), "quantModeOptional": mode,
        "groupIndexOptional": _index(d, rows, groups, kind == 1) if grouped else None,
        "groupListType": kind, "dstType": number_of(np.int8),
    }  # fmt: skip
    if mode == "static" and d.flag():
        given["offsetsOptional"] = _group_numbers(d, groups, width, -9, 9)
    given = {name: value for name, value in given.items() if name in names}
    case = Case(given, "double", {"yOut": np.dtype(np.int8), "scaleOut": FLOAT}, ("groupIndexOptional",))
    if mode == "static":
        case.room["scaleOut"] = shape[:-1]
    return _unwanted(case)


def dequant_swiglu_quant(d: Draw) -> Case:
    names = {each.name for each in d.record.parameters}
    shape = _normal_shape(d)
    shape, rows, width = (*shape[:-1], 2 * shape[-1]), int(np.prod(shape[:-1])), shape[-1]
    grouped, mode = d.flag(), d.one(("static", "dynamic"))
    groups = d.whole(1, 3) if grouped else 1
    whole = d.first == EIGHT
    given = dict.fromkeys(("weightScaleOptional", "activationScaleOptional", "biasOptional",
                           "quantScaleOptional", "quantOffsetOptional"))  # fmt: skip
    if whole:
        x = d.random.integers(-2000, 2000, shape).astype(np.int32)
        columns = d.random.uniform(0.001, 0.003, (groups, 2 * width)).astype(FLOAT)
        given["weightScaleOptional"] = columns[0] if not grouped and d.flag() else columns
        if d.flag():
            of_rows = d.one(((*shape[:-1], 1), shape[:-1]))
            given["activationScaleOptional"] = d.array(of_rows, FLOAT, "positive")
        if not grouped and d.flag():
            given["biasOptional"] = d.array((2 * width,), d.type_of("biasOptional"), "tame")
    else:
        x = d.array(shape, None, "tame")
    if d.flag():
        low, high = (0.01, 0.1) if mode == "static" else (1, 30)
        kind = d.one(d.record.types_of("quantScaleOptional")) if mode == "dynamic" else FLOAT
        given["quantScaleOptional"] = _group_numbers(d, groups, width, low, high, kind)
    if mode == "static" and not grouped and d.flag():
        given["quantOffsetOptional"] = _group_numbers(d, groups, width, -9, 9)
    index = _index(d, rows, groups, True, d.one(PLACES)) if grouped else None
    given |= {"x": x, "groupIndexOptional": index, "activateLeft": d.flag(), "quantModeOptional": mode,
              "dstType": number_of(np.int8), "activateDim": d.one((-1, len(shape) - 1)),
              "clampLimit": 1.5, "gluAlpha": 1.702, "gluBias": 1.0}  # fmt: skip
    given = {name: value for name, value in fill(d, given).items() if name in names}
    outputs = {"yOut": np.dtype(np.int8), "scaleOut": FLOAT}
    case = Case(given, "double", outputs, ("groupIndexOptional", "biasOptional"))
    if mode == "static":
        case.room["scaleOut"] = shape[:-1]
    return _unwanted(case)


def clipped_swiglu(d: Draw) -> Case:
    types = (FLOAT, *HALVES)
    d.first = d.first if d.first in types else d.one(types)
    shape = list(_normal_shape(d))
    dim = d.whole(-len(shape), len(shape) - 1, walk=1)
    shape[dim] *= 2
    rows, grouped = int(np.prod(shape[: dim % len(shape)])), d.flag()
    index = _index(d, rows, d.whole(1, 3), True, np.int64) if grouped else None
    given = {"x": d.array(shape, None, "tame"), "groupIndexOptional": index, "dim": dim,
             "alpha": 1.702, "limit": 1.5, "bias": 1.0, "interleaved": d.flag()}  # fmt: skip
    return Case(given, "double", {"out": d.first}, ("groupIndexOptional",))
