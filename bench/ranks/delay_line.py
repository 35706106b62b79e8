# SPDX-License-Identifier: Apache-2.0
"""A cable that takes a time: frames sent into one end come out of the other one later.

Both ends are tap devices, so that any kernel does, also one without netem (CONFIG_NET_SCH_NETEM).
Frames are as large as a network card that cuts them itself gets them, 64 KiB: few enough for
Python. What carries them is a process; it takes a processor's time like the ranks do.
"""

import collections
import contextlib
import fcntl
import os
import select
import signal
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass

TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
IFF_TAP, IFF_NO_PI, IFF_VNET_HDR = 0x0002, 0x1000, 0x4000
TUN_F_CSUM, TUN_F_TSO4, TUN_F_TSO6 = 0x01, 0x02, 0x04
MOST = 10 + 14 + 65536  # bytes at once: what virtio says of a frame, Ethernet's header, the rest


def new_end(name: str) -> int:
    """A tap device in the calling thread's network; its descriptor holds it."""
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.ioctl(
            end, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI | IFF_VNET_HDR)
        )
        fcntl.ioctl(end, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6)
    except OSError:
        os.close(end)
        raise
    return end


@dataclass(frozen=True)
class Line:
    """Frames into `near` take the delay to `far`; those the other way take none."""

    near: int
    far: int


class Carrier:
    """The process of all lines; it ends with this object, or with the process that made it."""

    def __init__(self, lines: list[Line], seconds: float):
        self._lines = lines
        parent = os.getpid()
        self._process = os.fork()
        if self._process == 0:
            try:
                # First of all: frames are to be late by the delay, not because ranks compute.
                with contextlib.suppress(OSError):
                    os.setpriority(os.PRIO_PROCESS, 0, -20)
                carry(lines, seconds, parent)
            finally:
                os._exit(1)

    def close(self) -> None:
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        for line in self._lines:
            os.close(line.near)
            os.close(line.far)


def carry(lines: list[Line], seconds: float, parent: int) -> None:
    """Until the parent has gone."""
    to = {line.near: line.far for line in lines} | {line.far: line.near for line in lines}
    delayed = {line.near for line in lines}
    on_the_way = collections.deque()  # all take as long: the first one in is the first one out
    while os.getppid() == parent:
        wait = max(0.0, on_the_way[0][0] - time.monotonic()) if on_the_way else 1.0
        for end in select.select(to, [], [], wait)[0]:
            for frame in frames_of(end):
                if end in delayed:
                    on_the_way.append((time.monotonic() + seconds, to[end], frame))
                else:
                    put(to[end], frame)
        while on_the_way and on_the_way[0][0] <= time.monotonic():
            put(*on_the_way.popleft()[1:])


def frames_of(end: int) -> Iterator[bytes]:
    """Those that wait there, but no more than a burst: others' time may have come."""
    with contextlib.suppress(BlockingIOError):
        for _ in range(16):
            yield os.read(end, MOST)


def put(end: int, frame: bytes) -> None:
    """Into a device that is down it is lost, as with any cable."""
    with contextlib.suppress(OSError):
        os.write(end, frame)
