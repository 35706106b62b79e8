# SPDX-License-Identifier: Apache-2.0
"""acl.rt: devices, contexts, streams, events, memory and callbacks."""

import ctypes

from . import _call, _library, _lookup
from ._constants import ACL_MODEL_RI_CAPTURE_STATUS_NONE

_FUNCTIONS = {
    # devices
    "set_device": "aclrtSetDevice(device_id:int32)",
    "reset_device": "aclrtResetDevice(device_id:int32)",
    "get_device": "aclrtGetDevice(>device_id:int32)",
    "get_device_count": "aclrtGetDeviceCount(>count:uint32)",
    "get_run_mode": "aclrtGetRunMode(>run_mode:int32)",
    "get_version": "aclrtGetVersion(>major:int32, >minor:int32, >patch:int32)",
    "synchronize_device": "aclrtSynchronizeDevice()",
    "synchronize_device_with_timeout": "aclrtSynchronizeDeviceWithTimeout(timeout:int32)",
    "device_can_access_peer": "aclrtDeviceCanAccessPeer(>can_access_peer:int32, device_id:int32,"
    " peer_device_id:int32)",
    "device_enable_peer_access": "aclrtDeviceEnablePeerAccess(peer_device_id:int32, flags:uint32)",
    "device_disable_peer_access": "aclrtDeviceDisablePeerAccess(peer_device_id:int32)",
    "device_get_bare_tgid": "aclrtDeviceGetBareTgid(>pid:int32)",
    "set_device_sat_mode": "aclrtSetDeviceSatMode(mode:int32)",
    "get_device_sat_mode": "aclrtGetDeviceSatMode(>mode:int32)",
    "set_sys_param_opt": "aclrtSetSysParamOpt(opt:int32, value:int64)",
    "get_sys_param_opt": "aclrtGetSysParamOpt(opt:int32, >value:int64)",
    "set_op_wait_timeout": "aclrtSetOpWaitTimeout(timeout:uint32)",
    "set_op_execute_time_out": "aclrtSetOpExecuteTimeOut(timeout:uint32)",
    # contexts
    "create_context": "aclrtCreateContext(>context:ptr, device_id:int32)",
    "destroy_context": "aclrtDestroyContext(context:ptr)",
    "set_context": "aclrtSetCurrentContext(context:ptr)",
    "get_context": "aclrtGetCurrentContext(>context:ptr)",
    "ctx_set_sys_param_opt": "aclrtCtxSetSysParamOpt(opt:int32, value:int64)",
    "ctx_get_sys_param_opt": "aclrtCtxGetSysParamOpt(opt:int32, >value:int64)",
    # streams
    "create_stream": "aclrtCreateStream(>stream:ptr)",
    "create_stream_with_config": "aclrtCreateStreamWithConfig(>stream:ptr, priority:uint32,"
    " flag:uint32)",
    "destroy_stream": "aclrtDestroyStream(stream:ptr)",
    "destroy_stream_force": "aclrtDestroyStreamForce(stream:ptr)",
    "synchronize_stream": "aclrtSynchronizeStream(stream:ptr)",
    "synchronize_stream_with_timeout": "aclrtSynchronizeStreamWithTimeout(stream:ptr,"
    " timeout:int32)",
    "stream_query": "aclrtStreamQuery(stream:ptr, >status:int32)",
    "set_stream_failure_mode": "aclrtSetStreamFailureMode(stream:ptr, mode:uint64)",
    "set_stream_overflow_switch": "aclrtSetStreamOverflowSwitch(stream:ptr, flag:uint32)",
    "get_stream_overflow_switch": "aclrtGetStreamOverflowSwitch(stream:ptr, >flag:uint32)",
    # events
    "create_event": "aclrtCreateEvent(>event:ptr)",
    "create_event_with_flag": "aclrtCreateEventWithFlag(>event:ptr, flag:uint32)",
    "create_event_ex_with_flag": "aclrtCreateEventExWithFlag(>event:ptr, flag:uint32)",
    "destroy_event": "aclrtDestroyEvent(event:ptr)",
    "record_event": "aclrtRecordEvent(event:ptr, stream:ptr)",
    "reset_event": "aclrtResetEvent(event:ptr, stream:ptr)",
    "query_event": "aclrtQueryEvent(event:ptr, >status:int32)",
    "query_event_status": "aclrtQueryEventStatus(event:ptr, >status:int32)",
    "query_event_wait_status": "aclrtQueryEventWaitStatus(event:ptr, >status:int32)",
    "synchronize_event": "aclrtSynchronizeEvent(event:ptr)",
    "synchronize_event_with_timeout": "aclrtSynchronizeEventWithTimeout(event:ptr, timeout:int32)",
    "event_elapsed_time": "aclrtEventElapsedTime(>ms:float, start_event:ptr, end_event:ptr)",
    "event_get_timestamp": "aclrtEventGetTimestamp(event:ptr, >timestamp:uint64)",
    "stream_wait_event": "aclrtStreamWaitEvent(stream:ptr, event:ptr)",
    # memory
    "malloc": "aclrtMalloc(>dev_ptr:ptr, size:size, policy:int32)",
    "malloc_align32": "aclrtMallocAlign32(>dev_ptr:ptr, size:size, policy:int32)",
    "malloc_cached": "aclrtMallocCached(>dev_ptr:ptr, size:size, policy:int32)",
    "mem_flush": "aclrtMemFlush(dev_ptr:ptr, size:size)",
    "mem_invalidate": "aclrtMemInvalidate(dev_ptr:ptr, size:size)",
    "free": "aclrtFree(dev_ptr:ptr)",
    "malloc_host": "aclrtMallocHost(>host_ptr:ptr, size:size)",
    "free_host": "aclrtFreeHost(host_ptr:ptr)",
    "get_mem_info": "aclrtGetMemInfo(attr:int32, >free:size, >total:size)",
    "memset": "aclrtMemset(dev_ptr:ptr, max_count:size, value:int32, count:size)",
    "memset_async": "aclrtMemsetAsync(dev_ptr:ptr, max_count:size, value:int32, count:size,"
    " stream:ptr)",
    "memcpy": "aclrtMemcpy(dst:ptr, dest_max:size, src:ptr, count:size, kind:int32)",
    "memcpy_async": "aclrtMemcpyAsync(dst:ptr, dest_max:size, src:ptr, count:size, kind:int32,"
    " stream:ptr)",
    "memcpy2d": "aclrtMemcpy2d(dst:ptr, dpitch:size, src:ptr, spitch:size, width:size,"
    " height:size, kind:int32)",
    "memcpy2d_async": "aclrtMemcpy2dAsync(dst:ptr, dpitch:size, src:ptr, spitch:size, width:size,"
    " height:size, kind:int32, stream:ptr)",
    "cmo_async": "aclrtCmoAsync(src:ptr, size:size, cmo_type:int32, stream:ptr)",
    # callbacks and errors
    "subscribe_report": "aclrtSubscribeReport(thread_id:uint64, stream:ptr)",
    "unsubscribe_report": "aclrtUnSubscribeReport(thread_id:uint64, stream:ptr)",
    "process_report": "aclrtProcessReport(timeout:int32)",
    "get_task_id_from_exception_info": "aclrtGetTaskIdFromExceptionInfo(info:ptr) -> uint32",
    "get_stream_id_from_exception_info": "aclrtGetStreamIdFromExceptionInfo(info:ptr) -> uint32",
    "get_thread_id_from_exception_info": "aclrtGetThreadIdFromExceptionInfo(info:ptr) -> uint32",
    "get_device_id_from_exception_info": "aclrtGetDeviceIdFromExceptionInfo(info:ptr) -> uint32",
    "get_error_code_from_exception_info": "aclrtGetErrorCodeFromExceptionInfo(info:ptr) -> uint32",
    "get_last_error": "aclrtGetLastError(level:int32)",
    "peek_at_last_error": "aclrtPeekAtLastError(level:int32)",
}

_LAUNCH = _call.Declaration("aclrtLaunchCallback(fn:ptr, data:ptr, block_type:int32, stream:ptr)")
_LOOK_AT_CAPTURE = _call.Declaration(
    "aclmdlRICaptureGetInfo(stream:ptr, >status:int32, >model:ptr)"
)
_SET_EXCEPTION = _call.Declaration("aclrtSetExceptionInfoCallback(fn:ptr)")
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

_pending = {}  # calls of launch_callback that are still to run, by the number that C carries
_exception_callback = None  # the C form of the function in force, which must live as long


@_CALLBACK
def _run_pending(key):
    fn, data, is_captured = _pending[key]
    if not is_captured:  # each execution of a graph runs its calls again
        del _pending[key]
    fn(data)


def launch_callback(fn, user_data_list, block_type, stream):
    """ret = launch_callback(fn, user_data_list, block_type, stream)

    Queues `fn(user_data_list)` on the stream. The thread of subscribe_report runs it.
    """
    if not callable(fn):
        raise TypeError(f"acl.rt.launch_callback: fn is {type(fn).__name__}, expected a function")
    status, _, _ = _call.make(_LOOK_AT_CAPTURE, "acl.rt.launch_callback")(stream)
    held = (fn, user_data_list, status != ACL_MODEL_RI_CAPTURE_STATUS_NONE)
    key = id(held)
    _pending[key] = held
    ret = _call.make(_LAUNCH, "acl.rt.launch_callback")(
        _address(_run_pending), key, block_type, stream
    )
    if ret != 0:
        del _pending[key]
    return ret


def set_exception_info_callback(fn=None):
    """ret = set_exception_info_callback(fn)

    Calls `fn(exception_info)` when a task fails; None ends that.
    """
    global _exception_callback
    if fn is not None and not callable(fn):
        raise TypeError(
            f"acl.rt.set_exception_info_callback: fn is {type(fn).__name__}, expected a function"
        )
    callback = None if fn is None else _CALLBACK(fn)
    address = _address(callback) if callback else 0
    ret = _call.make(_SET_EXCEPTION, "acl.rt.set_exception_info_callback")(address)
    if ret == 0:
        _exception_callback = callback
    return ret


def _address(callback):
    return ctypes.cast(callback, ctypes.c_void_p).value


__getattr__, __dir__ = _lookup.functions(globals(), [(_library.ASCENDCL, _FUNCTIONS)])
