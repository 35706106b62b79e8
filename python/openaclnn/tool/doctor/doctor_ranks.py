# SPDX-License-Identifier: Apache-2.0
"""Needs of ranks: UCX, an interface to meet on, ports, variables in order."""

import fcntl
import ipaddress
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from .finding import Finding, Verdict

_UCX = "libucp.so.0"
_LEAST_UCX = (1, 13)
_PORTS_OF_BASE = 32
_BASES = range(1024, 65521)  # that libhccl.so takes
_SIOCGIFADDR = 0x8915
_FAMILIES = ("AF_INET", "AF_INET6")
_SECONDS = {"HCCL_CONNECT_TIMEOUT": range(1, 7201), "HCCL_EXEC_TIMEOUT": range(2**31)}
_SHARED = "/dev/shm"
_LEAST_SHARED = 256 << 20
_IPV6 = Path("/proc/net/if_inet6")
_OF_THE_LINK = "20"  # the scope of an address, in hexadecimal digits

# In a process of its own: UCX takes over signals where it is loaded.
_PROBE = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.ucp_get_version_string.restype = ctypes.c_char_p
print(library.ucp_get_version_string().decode())
"""


def examine(variables: Mapping[str, str]) -> list[Finding]:
    """For ranks that are started with these variables."""
    found = [_ucx(variables), _interface(variables), _ports(variables)]
    return [*found, *_shared_memory(), *_refused(variables)]


def _ucx(variables: Mapping[str, str]) -> Finding:
    """A note where there is none: one rank, and the devices of one process, do without."""
    command = [sys.executable, "-S", "-c", _PROBE, _UCX]
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    advice = "HCCL between processes needs it (Debian: libucx0; PyPI: libucx-cu12)"
    if done.returncode != 0:
        words = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
        return Finding("UCX", Verdict.NOTE, f"{words[-1].removeprefix('OSError: ')}; {advice}")
    version = done.stdout.strip()
    parts = version.split(".")[:2]
    if not all(part.isdigit() for part in parts) or tuple(map(int, parts)) < _LEAST_UCX:
        return Finding("UCX", Verdict.PROBLEM, f"{_UCX} is {version}, expected 1.13 or newer")
    return Finding("UCX", Verdict.OK, f"{_UCX} {version}")


def _interface(variables: Mapping[str, str]) -> Finding:
    """The address that HCCL_IF_IP or HCCL_SOCKET_IFNAME choose, or all there are."""
    found = _of_ipv6() if variables.get("HCCL_SOCKET_FAMILY") == "AF_INET6" else _of_ipv4()
    shown = ", ".join(f"{name} {address}" for name, address in found.items()) or "none"
    address, chosen = variables.get("HCCL_IF_IP"), variables.get("HCCL_SOCKET_IFNAME")
    if address:
        if _is_address(address) and _can_listen(address, 0):
            return Finding("interface", Verdict.OK, f"{address} by HCCL_IF_IP")
        detail = f"HCCL_IF_IP is {address}, expected an address of this machine: {shown}"
        return Finding("interface", Verdict.PROBLEM, detail)
    if chosen:
        names = [name for name in found if is_chosen(name, chosen)]
        if not names:
            detail = f"HCCL_SOCKET_IFNAME is {chosen}, which none matches of: {shown}"
            return Finding("interface", Verdict.PROBLEM, detail)
        detail = f"{names[0]} {found[names[0]]} by HCCL_SOCKET_IFNAME"
        return Finding("interface", Verdict.OK, detail)
    if not found:
        detail = "none: ranks meet by the loopback address, those of this machine alone"
        return Finding("interface", Verdict.NOTE, detail)
    return Finding("interface", Verdict.OK, shown)


def _shared_memory() -> list[Finding]:
    """A note where it is small: what does not fit is refused when a communicator is made."""
    try:
        space = os.statvfs(_SHARED)
    except OSError:
        return []
    size, free = (blocks * space.f_frsize for blocks in (space.f_blocks, space.f_bavail))
    if free >= _LEAST_SHARED:
        return []
    detail = (
        f"{free >> 20} MiB of {size >> 20} MiB free; between processes each communicator takes "
        "some 4 MiB for each rank (docker: --shm-size), none with UCX_TLS=tcp,self"
    )
    return [Finding(_SHARED, Verdict.NOTE, detail)]


def is_chosen(name: str, words: str) -> bool:
    """Whether HCCL_SOCKET_IFNAME chooses an interface: eth, ^eth (not those), =eth0,enp0, ^=eth0
    (whole names)."""
    negated = words.startswith("^")
    words = words.removeprefix("^")
    whole = words.startswith("=")
    names = [each for each in words.removeprefix("=").split(",") if each]
    matches = any(name == each if whole else name.startswith(each) for each in names)
    return matches != negated


def _refused(variables: Mapping[str, str]) -> list[Finding]:
    """Variables that libhccl.so refuses."""
    wrong = {}
    if (family := variables.get("HCCL_SOCKET_FAMILY", "")) not in ("", *_FAMILIES):
        wrong["HCCL_SOCKET_FAMILY"] = f"{family}, expected {' or '.join(_FAMILIES)}"
    for name, allowed in _SECONDS.items():
        text = variables.get(name, "")
        if text and not (text.isascii() and text.isdecimal() and int(text) in allowed):
            wrong[name] = f"{text}, expected seconds, {allowed[0]} to {allowed[-1]}"
    return [Finding(name, Verdict.PROBLEM, detail) for name, detail in wrong.items()]


def _of_ipv4() -> dict[str, str]:
    """By interface."""
    names = [name for _, name in socket.if_nameindex()]
    return {name: address for name in names if (address := _address(name))}


def _of_ipv6() -> dict[str, str]:
    """By interface; not those that only its own link knows."""
    rows = [line.split() for line in _IPV6.read_text().splitlines()] if _IPV6.exists() else []
    return {
        name: str(ipaddress.IPv6Address(bytes.fromhex(digits)))
        for digits, _, _, scope, _, name in rows
        if scope != _OF_THE_LINK
    }


def _address(name: str) -> str | None:
    """An interface's IPv4 address."""
    request = struct.pack("256s", name[:15].encode())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            return socket.inet_ntoa(fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, request)[20:24])
        except OSError:
            return None


def _ports(variables: Mapping[str, str]) -> Finding:
    """Whether rank 0 can listen on one of the ports that the environment allows."""
    listed, base = (
        variables.get(name, "") for name in ("HCCL_HOST_SOCKET_PORT_RANGE", "HCCL_IF_BASE_PORT")
    )
    if listed in ("", "auto") and (listed or not base):
        return Finding("ports", Verdict.OK, "any that the system chooses")
    what = f"HCCL_HOST_SOCKET_PORT_RANGE is {listed}" if listed else f"HCCL_IF_BASE_PORT is {base}"
    try:
        if not listed and int(base) not in _BASES:
            raise ValueError(base)
        ports = _parsed(listed or f"{base}-{min(int(base) + _PORTS_OF_BASE - 1, 65535)}")
    except ValueError:
        return Finding("ports", Verdict.PROBLEM, f"{what}, expected ports as in 60000-60010,61000")
    free = [port for port in ports if _can_listen("", port)]
    if not free:
        return Finding("ports", Verdict.PROBLEM, f"{what}, all {len(ports)} in use")
    return Finding("ports", Verdict.OK, f"{what}: {len(free)} of {len(ports)} free, from {free[0]}")


def _parsed(text: str) -> list[int]:
    ports: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not (first + last).isdecimal():  # int() takes blanks and signs
            raise ValueError(part)
        some = range(int(first), int(last if dash else first) + 1)
        if not some or not all(0 < port < 65536 for port in (some[0], some[-1])):
            raise ValueError(part)
        ports += some
    return ports


def _is_address(text: str) -> bool:
    """Not a name, which libhccl.so does not look up."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _can_listen(address: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        try:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((address, port))
            probe.listen(1)
        except OSError:
            return False
    return True
