# SPDX-License-Identifier: Apache-2.0
"""The module `acl` as pyACL's users call it."""

import ctypes
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from openaclnn.native import libraries

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import acl
from acl import _call, _library

HOST_TO_DEVICE, DEVICE_TO_HOST, HUGE_FIRST = 1, 2, 0


@pytest.fixture
def device():
    """A context of device 0, in which a test runs."""
    assert acl.init() in (0, acl.ACL_ERROR_REPEAT_INITIALIZE)
    assert acl.rt.set_device(0) == 0
    context, ret = acl.rt.create_context(0)
    assert ret == 0 and context
    yield context
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.reset_device(0) == 0


@pytest.fixture
def stream(device):
    created, ret = acl.rt.create_stream()
    assert ret == 0 and created
    yield created
    assert acl.rt.destroy_stream(created) == 0


@pytest.fixture
def memory(device):
    """Allocates device memory of so many bytes."""
    addresses = []

    def allocate(size):
        address, ret = acl.rt.malloc(size, HUGE_FIRST)
        assert ret == 0 and address
        addresses.append(address)
        return address

    yield allocate
    assert [acl.rt.free(each) for each in addresses] == [0] * len(addresses)


def upload(address, data):
    assert (
        acl.rt.memcpy(address, len(data), acl.util.bytes_to_ptr(data), len(data), HOST_TO_DEVICE)
        == 0
    )


def download(address, size):
    host, ret = acl.rt.malloc_host(size)
    assert ret == 0
    assert acl.rt.memcpy(host, size, address, size, DEVICE_TO_HOST) == 0
    data = acl.util.ptr_to_bytes(host, size)
    assert acl.rt.free_host(host) == 0
    return data


def test_data_goes_to_the_device_and_back(memory):
    data = bytes(range(200))
    address = memory(len(data))
    upload(address, data)
    assert download(address, len(data)) == data


def test_asynchronous_copies_and_fills_follow_the_stream(memory, stream):
    source, target = memory(64), memory(64)
    assert acl.rt.memset_async(source, 64, 7, 64, stream) == 0
    assert acl.rt.memcpy_async(target, 64, source, 64, acl.ACL_MEMCPY_DEVICE_TO_DEVICE, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert download(target, 64) == bytes([7]) * 64


def test_a_matrix_is_copied_by_rows(memory):
    data = bytes(range(12))
    address = memory(12)
    upload(address, bytes(12))
    ret = acl.rt.memcpy2d(address, 4, acl.util.bytes_to_ptr(data), 3, 2, 3, HOST_TO_DEVICE)
    assert ret == 0
    assert download(address, 12) == bytes([0, 1, 0, 0, 3, 4, 0, 0, 6, 7, 0, 0])


def test_results_come_before_the_code(device):
    assert acl.rt.get_device() == (0, 0)
    assert acl.rt.get_context() == (device, 0)
    assert acl.rt.get_run_mode() == (acl.ACL_HOST, 0)
    free, total, ret = acl.rt.get_mem_info(acl.ACL_HBM_MEM)
    assert ret == 0 and 0 < free <= total
    can_access, ret = acl.rt.device_can_access_peer(0, 0)
    assert (can_access, ret) == (0, 0)  # a device is no peer of itself


def test_a_failure_is_a_code(device):
    assert acl.rt.set_device(1000) == acl.ACL_ERROR_RT_INVALID_DEVICEID
    assert acl.rt.malloc(0, HUGE_FIRST) == (0, acl.ACL_ERROR_INVALID_PARAM)
    assert "aclrtMalloc: size" in acl.get_recent_err_msg()
    assert acl.rt.synchronize_stream(12345) == acl.ACL_ERROR_RT_INVALID_HANDLE


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: acl.rt.malloc("3", 0), TypeError, "acl.rt.malloc: size is str, expected int"),
        (
            lambda: acl.rt.malloc(3),
            TypeError,
            r"acl.rt.malloc\(size, policy\) takes 2 arguments, got 1",
        ),
        (lambda: acl.rt.malloc(-1, 0), OverflowError, "size is -1, expected 0 to"),
        (lambda: acl.rt.free(2**64), OverflowError, "dev_ptr is 18446744073709551616"),
        (lambda: acl.init(3), TypeError, "config_path is int, expected str"),
        (lambda: acl.mdl.load_from_file("a\0b"), ValueError, "null character"),
        (lambda: acl.create_tensor_desc(0, 3, 2), TypeError, "dims is int, expected list"),
        (
            lambda: acl.create_tensor_desc(0, [1.5], 2),
            TypeError,
            r"dims\[0\] is float, expected int",
        ),
        (
            lambda: acl.util.ptr_to_bytes(0, 4),
            ValueError,
            "ptr is 0, expected the address of 4 bytes",
        ),
        (lambda: acl.util.numpy_to_ptr([1]), TypeError, "data is list, expected numpy.ndarray"),
        (lambda: acl.util.ptr_to_numpy(0, (0,), 99), ValueError, "type is 99, expected one of"),
        (lambda: acl.rt.launch_callback(None, [], 1, 0), TypeError, "fn is NoneType"),
    ],
)
def test_what_c_cannot_take_is_refused_by_python(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_events_order_and_time_streams(memory, stream):
    other, ret = acl.rt.create_stream()
    assert ret == 0
    events = [acl.rt.create_event() for _ in range(2)]
    assert [ret for _, ret in events] == [0, 0]
    start, end = (event for event, _ in events)
    address = memory(1 << 20)
    assert acl.rt.record_event(start, stream) == 0
    assert acl.rt.memset_async(address, 1 << 20, 1, 1 << 20, stream) == 0
    assert acl.rt.record_event(end, stream) == 0
    assert acl.rt.stream_wait_event(other, end) == 0
    assert acl.rt.synchronize_stream(other) == 0
    assert acl.rt.query_event_status(end) == (acl.ACL_EVENT_RECORDED_STATUS_COMPLETE, 0)
    elapsed, ret = acl.rt.event_elapsed_time(start, end)
    assert ret == 0 and elapsed > 0
    assert [acl.rt.destroy_event(each) for each in (start, end)] == [0, 0]
    assert acl.rt.destroy_stream(other) == 0


def test_a_callback_runs_in_the_thread_that_serves_the_stream(device, stream):
    serving, seen = [True], []

    def serve(arguments):
        assert acl.rt.set_context(arguments[0]) == 0
        while serving:
            acl.rt.process_report(100)

    def note(data):
        seen.append((data, threading.get_ident()))

    thread, ret = acl.util.start_thread(serve, [device])
    assert ret == 0
    assert acl.rt.subscribe_report(thread, stream) == 0
    assert acl.rt.launch_callback(note, ["first", 1], acl.ACL_CALLBACK_BLOCK, stream) == 0
    assert acl.rt.launch_callback(note, ["second"], acl.ACL_CALLBACK_BLOCK, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert [data for data, _ in seen] == [["first", 1], ["second"]]
    assert {number for _, number in seen} == {thread}
    assert acl.rt._pending == {}, "what has run is forgotten"
    assert acl.rt.unsubscribe_report(thread, stream) == 0
    serving.clear()
    assert acl.util.stop_thread(thread) == 0
    assert acl.util.stop_thread(thread) == acl.ACL_ERROR_INVALID_PARAM


def test_a_captured_callback_runs_in_each_execution(device, stream):
    seen = []
    assert acl.rt.subscribe_report(threading.get_ident(), stream) == 0
    c, model = ctypes.CDLL(str(libraries.find() / "lib64/libascendcl.so")), ctypes.c_void_p()
    handle = ctypes.c_void_p(stream)
    assert c.aclmdlRICaptureBegin(handle, acl.ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == 0
    assert acl.rt.launch_callback(seen.append, "run", acl.ACL_CALLBACK_BLOCK, stream) == 0
    assert c.aclmdlRICaptureEnd(handle, ctypes.byref(model)) == 0
    for times in (1, 2):
        assert c.aclmdlRIExecuteAsync(model, handle) == 0
        assert acl.rt.process_report(10000) == 0
        assert seen == ["run"] * times
    assert acl.rt.unsubscribe_report(threading.get_ident(), stream) == 0
    assert c.aclmdlRIDestroy(model) == 0
    acl.rt._pending.clear()


def test_a_callback_without_a_thread_is_refused_and_forgotten(stream):
    ret = acl.rt.launch_callback(print, [], acl.ACL_CALLBACK_BLOCK, stream)
    assert ret != 0 and acl.rt._pending == {}


def test_the_exception_callback_learns_of_a_failed_task():
    code = (
        "import acl, numpy, openaclnn\n"
        "def tell(info):\n"
        "    print(acl.rt.get_error_code_from_exception_info(info))\n"
        "    print(acl.rt.get_device_id_from_exception_info(info))\n"
        "acl.init()\n"
        "for callback in (tell, None):\n"
        "    assert acl.rt.set_exception_info_callback(callback) == 0\n"
        "    try:\n"
        "        openaclnn.embedding(numpy.eye(3, dtype=numpy.float32), [7])\n"
        "    except openaclnn.AclError as error:\n"
        "        assert error.code == 507035\n"
        "assert acl.rt.set_exception_info_callback() == 0\n"
    )
    run = run_python(code, PYTHONPATH=os.pathsep.join([str(ROOT / "python"), *sys.path]))
    assert (run.returncode, run.stdout) == (0, "507035\n0\n"), run.stderr


def run_python(code, **variables):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), **variables}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def test_descriptions_and_buffers(memory):
    description = acl.create_tensor_desc(acl.ACL_FLOAT16, [2, 3], acl.ACL_FORMAT_ND)
    assert acl.get_tensor_desc_type(description) == acl.ACL_FLOAT16
    assert acl.get_tensor_desc_num_dims(description) == 2
    assert acl.get_tensor_desc_dim_v2(description, 1) == (3, 0)
    assert acl.get_tensor_desc_dim_v2(description, 2)[1] == acl.ACL_ERROR_INVALID_PARAM
    assert acl.destroy_tensor_desc(description) is None
    assert acl.data_type_size(acl.ACL_DOUBLE) == 8
    address = memory(12)
    buffer = acl.create_data_buffer(address, 12)
    assert acl.get_data_buffer_addr(buffer) == address
    assert acl.get_data_buffer_size_v2(buffer) == 12
    assert acl.destroy_data_buffer(buffer) == 0


def test_an_operator_runs_by_its_graph_name(memory, stream):
    scores = np.array([[[[1.0, 2.0, 3.0, 4.0]]]], np.float32)
    mask = np.array([[[[False, False, True, False]]]])
    places = [memory(each.nbytes) for each in (scores, mask, scores)]
    upload(places[0], scores.tobytes())
    upload(places[1], mask.tobytes())
    types = (acl.ACL_FLOAT, acl.ACL_BOOL, acl.ACL_FLOAT)
    x, m, y = (acl.create_tensor_desc(each, [1, 1, 1, 4], acl.ACL_FORMAT_ND) for each in types)
    buffers = [acl.create_data_buffer(p, n) for p, n in zip(places, (16, 4, 16), strict=True)]
    attributes = acl.op.create_attr()
    assert acl.op.set_attr_float(attributes, "scale", 0.5) == 0
    assert acl.op.set_attr_bool(attributes, "fixed_triu_mask", 0) == 0
    ret = acl.op.compile_and_execute(
        "ScaledMaskedSoftmax", [x, m], buffers[:2], [y], buffers[2:], attributes, 0, 0, "", stream
    )
    assert ret == 0, acl.get_recent_err_msg()
    assert acl.rt.synchronize_stream(stream) == 0
    got = np.frombuffer(download(places[2], 16), np.float32)
    weights = np.where(mask, 0, np.exp(scores.astype(np.float64) * 0.5)).ravel()
    np.testing.assert_allclose(got, weights / weights.sum(), rtol=1e-5, atol=1e-6)
    unknown = acl.op.compile_and_execute(
        "NoSuch", [x], buffers[:1], [y], buffers[2:], 0, 0, 0, "", stream
    )
    assert unknown == acl.ACL_ERROR_OP_NOT_FOUND
    with pytest.raises(ValueError, match="inputs has 1 items, expected 2 as input_desc has"):
        acl.op.compile_and_execute("NoSuch", [x, m], buffers[:1], [y], buffers[2:], 0, 0, 0, "", 0)
    acl.op.destroy_attr(attributes)
    assert [acl.destroy_data_buffer(each) for each in buffers] == [0, 0, 0]
    for each in (x, m, y):
        acl.destroy_tensor_desc(each)


def test_lists_are_attributes():
    attributes = acl.op.create_attr()
    assert acl.op.set_attr_list_int(attributes, "a", [1, -2]) == 0
    assert acl.op.set_attr_list_int(attributes, "b", np.array([3])) == 0
    assert acl.op.set_attr_list_float(attributes, "c", [0.5]) == 0
    assert acl.op.set_attr_list_bool(attributes, "d", []) == 0
    assert acl.op.set_attr_list_list_int(attributes, "e", [[1, 2], [], [3]]) == 0
    acl.op.destroy_attr(attributes)
    assert acl.op.set_attr_int(attributes, "f", 1) == acl.ACL_ERROR_RT_INVALID_HANDLE


def test_offline_models_are_refused_with_a_code(device):
    refused = acl.ACL_ERROR_RT_FEATURE_NOT_SUPPORT
    assert acl.mdl.load_from_file("model.om") == (0, refused)
    assert acl.mdl.add_dataset_buffer(0, 0) == (0, refused)
    assert acl.mdl.create_desc() == 0
    assert "aclmdlCreateDesc" in acl.get_recent_err_msg()


def test_numpy_arrays_have_addresses():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    view = acl.util.ptr_to_numpy(acl.util.numpy_to_ptr(array), (2, 3), array.dtype.num)
    view[1, 2] = 9
    assert array[1, 2] == 9 and view.dtype == np.float32
    with pytest.warns(UserWarning, match="discontiguous"):
        acl.util.numpy_to_ptr(array.T)


def test_numbers_convert_to_half_and_back():
    assert acl.float_to_float16(1.5) == np.float16(1.5).view(np.uint16)
    assert acl.float16_to_float(np.float16(-2.5).view(np.uint16)) == -2.5


def test_the_log_has_the_place_of_the_call():
    code = 'import acl\ndef here(): acl.app_log(3, "100%s")\nhere()\n'
    run = run_python(code, ASCEND_GLOBAL_LOG_LEVEL="3", ASCEND_SLOG_PRINT_TO_STDOUT="1")
    assert run.returncode == 0
    assert re.search(r"here.*100%s", run.stdout + run.stderr)


def test_an_absent_function_says_which_c_function_is_missing():
    with pytest.raises(
        AttributeError, match="malloc_cached calls aclrtMallocCached, which openaclnn"
    ):
        acl.rt.malloc_cached  # noqa: B018
    with pytest.raises(AttributeError, match=r"acl.rt has no mallocs in openaclnn; dir\(acl.rt\)"):
        acl.rt.mallocs  # noqa: B018
    with pytest.raises(AttributeError, match="no image and video units"):
        acl.media  # noqa: B018
    assert not hasattr(acl.rt, "mem_flush") and "mem_flush" not in dir(acl.rt)
    with pytest.raises(ImportError, match="cannot import name 'mem_flush'"):
        from acl.rt import mem_flush  # noqa: F401


def test_each_function_of_the_tables_calls_what_the_headers_declare():
    """A row has the C function's parameters, in number, kind and order."""
    headers = "".join(path.read_text() for path in (ROOT / "include/acl").glob("*.h"))
    declared = {
        name: [each.strip() for each in parameters.split(",")]
        for name, parameters in re.findall(r"\b(acl\w+)\(([^()]*)\)", headers)
    }
    kinds = {"int32": "int", "uint8": "uint8_t", "float": "float", "text": "const char*"}
    kinds.update(
        {each: f"{each}_t" for each in ("uint32", "int64", "uint64", "size")}, uint16="aclFloat16"
    )
    checked = 0
    for module in (acl, acl.rt, acl.mdl, acl.op):
        for table in [each for name, each in vars(module).items() if name in TABLES]:
            for row in table.values():
                declaration = _call.Declaration(row)
                if declaration.c_name not in declared:
                    continue  # the library has none of it, which hasattr tells
                parameters = declared[declaration.c_name]
                wanted = [each for each in parameters if each not in ("void", "")]
                lengths = [each for each in wanted if re.search(r"\bnum(Values|Dims)$", each)]
                lists = [kind for _, kind, _ in declaration.parameters if kind.endswith("s")]
                assert len(lengths) == len(lists), row
                wanted = [each for each in wanted if each not in lengths]
                assert len(wanted) == len(declaration.parameters), (row, parameters)
                for written, (_, kind, is_result) in zip(
                    wanted, declaration.parameters, strict=True
                ):
                    assert_same_kind(row, written, kind, is_result, kinds)
                checked += 1
    assert checked > 120


TABLES = ("_FUNCTIONS", "_ATTRIBUTES", "_ADD", "_OP_COMPILER")
ENUMS = "acl(rt|mdl|op|Sys|Data|Format|Mem|Device|Compile|Last)?[A-Za-z]*"
HANDLES = r"acl(rt(Stream|Event|Context)|mdlRI)\b"


def assert_same_kind(row, written, kind, is_result, kinds):
    is_pointer = "*" in written or re.match(HANDLES, written)
    if is_result:
        assert "*" in written, (row, written)
    elif kind == "ptr" or kind.endswith("s"):
        assert is_pointer, (row, written)
    elif kind == "int32":
        assert not is_pointer and re.match(rf"(u?int32_t|int|{ENUMS}) ", written), (row, written)
    else:
        assert written.startswith(kinds[kind]), (row, written)


def test_constants_are_those_of_the_headers():
    for header in (
        "acl_base.h",
        "error_codes/rt_error_codes.h",
        "acl_rt.h",
        "acl_mdl.h",
        "acl_op.h",
        "acl_op_compiler.h",
    ):
        text = re.sub(
            r"/\*.*?\*/", "", (ROOT / "include/acl" / header).read_text(), flags=re.DOTALL
        )
        pattern = r"(?:static const int(?:32_t)?|#define|^ ) (ACL_\w+)(?: =)? (-?\d\w*)[uU]?[,;\n]"
        found = re.findall(pattern, text, re.MULTILINE)
        assert found, header
        for name, value in found:
            assert getattr(acl, name) == int(value.rstrip("uUlL"), 0), name


def test_the_library_is_the_one_that_the_process_has():
    """Also where another is named: two copies would not know each other's handles."""
    code = (
        "import ctypes, sys\n"
        "mine = ctypes.CDLL(sys.argv[1])\n"
        "import acl\n"
        "assert acl.init() == 0 and mine.aclInit(None) == 100002\n"
    )
    library = libraries.find() / "lib64/libascendcl.so"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "OPENACLNN_HOME": "/nowhere"}
    command = [sys.executable, "-c", code, str(library)]
    assert subprocess.run(command, env=environment, timeout=120).returncode == 0


def test_without_the_library_the_import_says_what_to_do():
    run = run_python(
        "import acl", OPENACLNN_HOME="/nowhere", ASCEND_HOME_PATH="", LD_LIBRARY_PATH=""
    )
    if run.returncode == 0:  # a build of this tree has it
        assert (ROOT / "build/install/lib64" / _library.ASCENDCL).is_file()
        return
    assert "ImportError: acl cannot load libascendcl.so" in run.stderr
    assert "openaclnn run" in run.stderr


def test_run_makes_acl_importable(tool):
    code = "import acl; from acl.rt import memcpy; print(acl.__file__, acl.get_soc_name())"
    run = tool("run", "--soc", "Ascend310P3", "--", sys.executable, "-c", code)
    home = libraries.find().resolve()
    assert run.code == 0, run.stderr
    assert run.stdout == f"{home / 'python/site-packages/acl/__init__.py'} Ascend310P3\n"
