# SPDX-License-Identifier: Apache-2.0
"""Ranks that are threads of this process: to try a split, and to test one, without a network."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from ..errors import InputError
from . import arrays

Result = TypeVar("Result")


@dataclass
class _Meeting:
    """Where the ranks' parts lie while they are exchanged."""

    barrier: threading.Barrier
    parts: list = field(default_factory=list)


class ThreadGroup:
    """One rank of those that `run` starts; `sent_bytes` counts what it sent to the others."""

    def __init__(self, rank: int, meeting: _Meeting):
        self.rank = rank
        self.size = meeting.barrier.parties
        self.sent_bytes = 0
        self._meeting = meeting

    def all_to_all(self, parts: Sequence, shapes: Sequence[tuple[int, ...]]) -> list:
        self._meeting.parts[self.rank] = parts
        self._meeting.barrier.wait()
        got = [arrays.of(each[self.rank]).copy(each[self.rank]) for each in self._meeting.parts]
        self._meeting.barrier.wait()
        for rank, (part, shape) in enumerate(zip(got, shapes, strict=True)):
            if tuple(part.shape) != tuple(shape):
                raise InputError(
                    f"part of rank {rank} for rank {self.rank} has shape {tuple(part.shape)},"
                    f" expected {tuple(shape)}"
                )
        others = (part for rank, part in enumerate(parts) if rank != self.rank)
        self.sent_bytes += sum(part.nbytes for part in others)
        return got

    def all_gather(self, part, shapes: Sequence[tuple[int, ...]]) -> list:
        return self.all_to_all([part] * self.size, shapes)


def run(ranks: int, work: Callable[[ThreadGroup], Result]) -> list[Result]:
    """Returns what `work` returns on each rank; raises the first error that is no other rank's."""
    meeting = _Meeting(threading.Barrier(ranks), [None] * ranks)
    results: list = [None] * ranks
    errors: list[BaseException | None] = [None] * ranks

    def one(rank: int) -> None:
        try:
            results[rank] = work(ThreadGroup(rank, meeting))
        except BaseException as error:
            errors[rank] = error
            meeting.barrier.abort()  # nobody waits for this one any more

    threads = [threading.Thread(target=one, args=(rank,)) for rank in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [error for error in errors if error is not None]
    for error in found:
        if not isinstance(error, threading.BrokenBarrierError):
            raise error
    if found:
        raise found[0]
    return results
