#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command where each rank has a network of its own, joined to the others' by a switch.

    bench/ranks/ranks_networks.py [--ranks 8] [--rate 1gbit] [--delay 1] [--each] -- COMMAND …

The command runs at the switch, and OPENACLNN_TEST_NETWORKS has the descriptors of the ranks'
networks ("4,5"). With --each it runs in every network, with the variables of torchrun. Interfaces
and processes are in namespaces of which this one's child is the first process: the kernel removes
all of them with it, however this ends. Where they may not be made it says LEFT OUT.
"""

import argparse
import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from delay_line import Carrier, Line, new_end

NEW_NETWORK = 0x40000000  # CLONE_NEWNET
MOST = 8
# For benchmarks of networks (RFC 2544): nothing that anybody uses.
PREFIX, SWITCH, PORT = "198.18.0.", "198.18.0.254", 29500
# Of the token bucket: twice the largest packet that a network card cuts for the kernel, 105 us of
# 10 Gb/s, so that a message of 64 KiB does not pass as if the link were idle for ever.
BURST, LATENCY = "128kb", "20ms"
# That wait at a device: what carries them with a delay may get no processor for a while.
FRAMES = 10000
VARIABLE, INSIDE = "OPENACLNN_TEST_NETWORKS", "OPENACLNN_TEST_NETWORKS_INSIDE"
TOOLS = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


@dataclass(frozen=True)
class Link:
    """Of each rank, either way."""

    rate: str | None = None  # as tc has it
    delay_ms: float = 0.0  # of one way, from a rank to another

    def rules(self, device: str) -> list[str]:
        if not self.rate:
            return []
        bucket = f"tbf rate {self.rate} burst {BURST} latency {LATENCY}"
        return [f"qdisc add dev {device} root {bucket}"]


def address(rank: int) -> str:
    return f"{PREFIX}{rank + 1}"


def batch(tool: str, lines: list[str], descriptors: tuple[int, ...] = ()) -> None:
    if lines:
        text = "\n".join(lines) + "\n"
        command = [shutil.which(tool, path=TOOLS), "-batch", "-"]
        done = subprocess.run(
            command, input=text, pass_fds=descriptors, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise OSError(f"{tool} says {done.stderr.strip()}, expected {lines[0]} … to be done")


def network_of_this_thread() -> int:
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY)


class Networks:
    """Made by a program that enter() has started; within() is a rank's."""

    def __init__(self, ranks: int, link: Link = Link()):
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._switch = network_of_this_thread()
        self.descriptors = tuple(self._new() for _ in range(ranks))
        self._call("setns", self._switch, NEW_NETWORK)
        ports = [f"port{rank}" for rank in range(ranks)]
        lines = ["link add switch type bridge", "link set switch up"]
        lines.append(f"addr add {SWITCH}/24 dev switch")
        self._carrier = self._lay_lines(ports, link.delay_ms / 1e3) if link.delay_ms else None
        for port, descriptor in zip(ports, self.descriptors, strict=True):
            if not self._carrier:
                place = f"/proc/self/fd/{descriptor}"
                lines.append(f"link add {port} type veth peer name eth0 netns {place}")
            lines.append(f"link set {port} txqueuelen {FRAMES} master switch up")
        batch("ip", lines, self.descriptors)
        batch("tc", [rule for port in ports for rule in link.rules(port)])
        for rank in range(ranks):
            own = ["link set lo up", f"addr add {address(rank)}/24 dev eth0"]
            own.append(f"link set eth0 txqueuelen {FRAMES} up")
            with self.within(rank):
                batch("ip", own)
                batch("tc", link.rules("eth0"))

    def close(self) -> None:
        """Ends the networks of ranks, and the switch's ports with them."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        batch("ip", ["link del switch"])
        if self._carrier:
            self._carrier.close()

    def _lay_lines(self, ports: list[str], seconds: float) -> Carrier:
        """Between each port and its rank's eth0, in place of a pair of devices."""
        lines = []
        for rank, port in enumerate(ports):
            with self.within(rank):
                near = new_end("eth0")
            lines.append(Line(near, new_end(port)))
        return Carrier(lines, seconds)

    def _call(self, function: str, *arguments: int) -> None:
        if getattr(self._libc, function)(*arguments) != 0:
            raise OSError(ctypes.get_errno(), f"{function} has failed")

    def _new(self) -> int:
        self._call("unshare", NEW_NETWORK)
        return network_of_this_thread()

    @contextlib.contextmanager
    def within(self, rank: int) -> Iterator[None]:
        """What this thread starts meanwhile is in the rank's network."""
        self._call("setns", self.descriptors[rank], NEW_NETWORK)
        try:
            yield
        finally:
            self._call("setns", self._switch, NEW_NETWORK)


def unshare() -> list[str]:
    """Before a command: with the first process all others end, and with that one's parent it."""
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    program = shutil.which("unshare", path=TOOLS) or "unshare"
    return [program, *user, "--net", "--mount-proc", "--pid", "--fork", "--kill-child", "--"]


def why_not(link: Link = Link()) -> str | None:
    """Why there can be no networks; None if there can."""
    for tool in ("unshare", "ip", "tc"):
        if shutil.which(tool, path=TOOLS) is None:
            return f"{tool} (Debian: iproute2, util-linux) is not installed"
    make = ["ip link add port0 type veth peer name eth0"]
    make += [f"tc {rule}" for rule in link.rules("port0") + link.rules("eth0")]
    if link.delay_ms:
        make.append("ip tuntap add mode tap name line0")
    done = subprocess.run(
        [*unshare(), "sh", "-c", " && ".join(make)],
        env={**os.environ, "PATH": TOOLS},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return None
    return f"networks may not be made here: {' '.join(done.stderr.split())}"


def enter() -> None:
    """Starts this program again as the first process of namespaces; returns where it is that."""
    if os.environ.pop(INSIDE, None) is None:
        sys.stdout.flush()
        os.environ[INSIDE] = "1"
        command = [*unshare(), sys.executable, *sys.orig_argv[1:]]
        os.execv(command[0], command)
    batch("ip", ["link set lo up"])


def of_torchrun(rank: int, ranks: int) -> dict[str, str]:
    return {
        "RANK": str(rank),
        "WORLD_SIZE": str(ranks),
        "LOCAL_RANK": "0",
        "MASTER_ADDR": address(0),
        "MASTER_PORT": str(PORT),
        "GLOO_SOCKET_IFNAME": "eth0",
    }


def of_shell(code: int) -> int:
    """An exit code: 128 and the signal where one has ended the process."""
    return code if code >= 0 else 128 - code


def run_each(networks: Networks, command: list[str]) -> int:
    """The first exit code that is not 0; the others end with this process."""
    ranks = len(networks.descriptors)
    processes = []
    for rank in range(ranks):
        with networks.within(rank):
            variables = {**os.environ, **of_torchrun(rank, ranks)}
            processes.append(subprocess.Popen(command, env=variables))
    while True:
        codes = [process.poll() for process in processes]
        if failed := [code for code in codes if code]:
            return of_shell(failed[0])
        if None not in codes:
            return 0
        time.sleep(0.01)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ranks", type=int, default=MOST, choices=range(1, MOST + 1))
    parser.add_argument("--rate", help="of a link, as tc has it: 1gbit")
    parser.add_argument("--delay", type=float, default=0.0, help="of one way, in milliseconds")
    parser.add_argument("--each", action="store_true", help="the command once in each network")
    parser.add_argument("command", nargs="+")
    chosen = parser.parse_args()
    link = Link(chosen.rate, chosen.delay)
    if INSIDE not in os.environ and (why := why_not(link)):
        print(f"networks of ranks: LEFT OUT, {why}")
        return 0
    enter()
    # All traffic is to be the link's; what the command's own environment asks for goes first.
    os.environ.setdefault("UCX_TLS", "tcp,self")
    networks = Networks(chosen.ranks, link)
    if chosen.each:
        return run_each(networks, chosen.command)
    os.environ[VARIABLE] = ",".join(map(str, networks.descriptors))
    done = subprocess.run(chosen.command, pass_fds=networks.descriptors, check=False)
    return of_shell(done.returncode)


if __name__ == "__main__":
    sys.exit(main())
