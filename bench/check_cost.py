# SPDX-License-Identifier: Apache-2.0
"""What OPENACLNN_CHECK costs on the shapes of `openaclnn bench --all`.

    python bench/check_cost.py [--operator NAME ...] [--threads N] [--quick]

A process for each level has the same row's operands; they call in turn, in a new order each round,
so that what else the machine does meets all of them. A ratio is the median over the rounds of a
level's time as a multiple of that with `off` in the same round. The last column is that with `off`
of a second process with `off`: what differs without a reason.
"""

import argparse
import multiprocessing
import os
import statistics
import sys
from collections.abc import Iterable, Iterator
from operator import truediv

from openaclnn.benchmark import cases, measure
from openaclnn.benchmark.measure import COLD, QUICK, WARM, Effort

BASE = "off"
LEVELS = {BASE: "off", "fast": "fast", "full": "full", "off again": "off"}  # OPENACLNN_CHECK


def serve(pipe, level: str, threads: int, effort: Effort, rows: tuple) -> None:
    """Answers (row, state) with the seconds of a call; a row that is new is prepared first."""
    from openaclnn.benchmark.worker import bind
    from openaclnn.native import runtime
    from openaclnn.native.call import Call
    from openaclnn.operators import OPERATORS

    os.environ["OPENACLNN_CHECK"] = level
    bind(threads)
    functions = {each.name: each.function for each in OPERATORS}
    started, caches, found = runtime.start(), measure.Caches(effort.cache), list(cases.rows(*rows))
    call, last = None, None
    while asked := pipe.recv():
        row, state = asked
        if row != last:
            if call:
                call.__exit__()
            bench, case, dtype = found[row]
            call, last = Call(started, functions[bench.operator], case.problem(dtype)), row
            measure.prepare(call.run)
        pipe.send(measure.once(call.run, state, caches, effort.sleep))
    caches.close()


def compare(pipes: dict, row: int, state: str, effort: Effort) -> dict[str, list[float]]:
    """Seconds of each level, round by round."""
    seconds = {level: [] for level in pipes}

    def ask(level: str) -> float:
        pipes[level].send((row, state))
        return pipes[level].recv()

    for level in pipes:
        ask(level)  # prepares
    rounds = effort.cold if state == COLD else effort.warm
    for order in measure.orders(list(pipes), rounds, row):
        for level in order:
            seconds[level].append(ask(level))
    return seconds


def start(serving: tuple) -> tuple[dict, list]:
    """A process for each level: the pipes to them, and they."""
    spawn, pipes, processes = multiprocessing.get_context("spawn"), {}, []
    for name, level in LEVELS.items():
        pipes[name], theirs = spawn.Pipe()
        processes.append(spawn.Process(target=serve, args=(theirs, level, *serving)))
        processes[-1].start()
    return pipes, processes


def line(title: str, base: str, ratios: Iterable[float]) -> str:
    return f"| {title} | {base} | {' | '.join(f'{ratio:.3f}' for ratio in ratios)} |"


def table(pipes: dict, rows: tuple, effort: Effort) -> Iterator[str]:
    """Markdown, a line as soon as it is known."""
    others = [name for name in LEVELS if name != BASE]
    yield f"| row | {BASE}, us | {' | '.join(others)} |"
    yield "|---|---|" + "---|" * len(others)
    found: dict[str, list[list[float]]] = {COLD: [], WARM: []}
    for number, (bench, case, dtype) in enumerate(cases.rows(*rows)):
        for state, so_far in found.items():
            seconds = compare(pipes, number, state, effort)
            of_round = [map(truediv, seconds[name], seconds[BASE]) for name in others]
            so_far.append([statistics.median(each) for each in of_round])
            base = f"{1e6 * statistics.median(seconds[BASE]):.1f}"
            yield line(f"{bench.operator} {case.name} {dtype} {state}", base, so_far[-1])
    for state, ratios in found.items():
        columns = list(zip(*ratios, strict=True))
        yield line(f"geometric mean, {state}", "", map(statistics.geometric_mean, columns))
        yield line(f"median, {state}", "", map(statistics.median, columns))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--operator", action="append", default=[])
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--quick", action="store_true", help="tiny shapes, to see that it runs")
    asked = parser.parse_args(arguments)
    effort = QUICK if asked.quick else Effort()
    rows = (asked.operator, {cases.TINY} if asked.quick else {cases.STATED, cases.SWEEP})
    pipes, processes = start((asked.threads, effort, rows))
    for each in table(pipes, rows, effort):
        print(each, flush=True)
    for pipe in pipes.values():
        pipe.send(None)
    for process in processes:
        process.join()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
