# SPDX-License-Identifier: Apache-2.0
"""pytest's options --npu, --npu-check and --npu-soc: tests marked `npu` run on openaclnn.

pytest loads this wherever the package is installed, so that it imports nothing until --npu asks.
"""

import argparse
import os
import sys
from collections.abc import Generator
from dataclasses import dataclass, field
from importlib.util import find_spec

import pytest

_LEVELS = ("off", "fast", "full")
_MARKER = (
    "npu(torch=True): runs on openaclnn where --npu is given, else is skipped;"
    " torch=False: needs no torch-npu"
)


@dataclass
class _Npu:
    """The changes that --npu has made."""

    missing: str  # why there is none, or nothing
    header: str
    reports: object = None  # checked.Reports, unless nothing is looked for
    outside: list[str] = field(default_factory=list)  # found while no test ran


_NPU = pytest.StashKey[_Npu]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("openaclnn", "openaclnn: an NPU on this machine")
    group.addoption(
        "--npu",
        action="store_true",
        help="run tests marked npu on openaclnn; what is missing skips them",
    )
    group.addoption(
        "--npu-required", action="store_true", help="like --npu, but what is missing is an error"
    )
    group.addoption(
        "--npu-check",
        choices=_LEVELS,
        help="mistakes to look for; a test that makes one fails (default: OPENACLNN_CHECK or fast)",
    )
    group.addoption(
        "--npu-soc",
        metavar="NAME",
        help="the product to simulate, one for each run (default: OPENACLNN_SOC)",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    # Now, since a conftest.py may import torch.
    _start(early_config, early_config.known_args_namespace)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    if _NPU not in config.stash:
        _start(config, config.option)  # a conftest.py has named this plugin


def _start(config: pytest.Config, options: argparse.Namespace) -> None:
    if not (options.npu or options.npu_required):
        for name in ("npu_check", "npu_soc"):
            if getattr(options, name) is not None:
                raise pytest.UsageError(f"--{name.replace('_', '-')} needs --npu")
        config.stash[_NPU] = _Npu("needs --npu", "")
        return
    if "," in (options.npu_soc or ""):
        raise pytest.UsageError(
            f"--npu-soc is {options.npu_soc}, expected one product: a process acts as one from"
            " aclInit on. Run pytest once for each, as the jobs of a matrix or in a loop:"
            f" for soc in {options.npu_soc.replace(',', ' ')}; do pytest --npu --npu-soc $soc; done"
        )
    _restore_environment_after(config)
    config.stash[_NPU] = npu = _in_place(options.npu_check, options.npu_soc)
    if options.npu_required and npu.missing:
        raise pytest.UsageError(f"--npu-required: {npu.missing}")


def _restore_environment_after(config: pytest.Config) -> None:
    before, path = dict(os.environ), list(sys.path)

    def restore() -> None:
        sys.path[:] = path
        os.environ.clear()
        os.environ.update(before)

    config.add_cleanup(restore)


def _in_place(level: str | None, soc: str | None) -> _Npu:
    """Sets what `openaclnn run` sets, and loads the libraries."""
    from .errors import Error, ToolkitNotFound
    from .native import libraries
    from .tool import checked, launch

    level = level or os.environ.get("OPENACLNN_CHECK") or "fast"
    os.environ["OPENACLNN_CHECK"] = level
    if soc is not None:
        os.environ["OPENACLNN_SOC"] = soc
    try:
        home = libraries.find()
        os.environ.update(launch.environment(home))
        sys.path.append(str(home / "python/site-packages"))  # the module acl
        libraries.load_all(home)
        facts = libraries.load().configuration()
    except ToolkitNotFound as error:
        return _Npu(str(error), f"openaclnn: {error}")
    except Error as error:
        raise pytest.UsageError(f"openaclnn: {error}") from None
    words = f"openaclnn: {facts['version']} in {home}, {facts['product']}, checks {level}"
    return _Npu("", words, None if level == "off" else checked.Reports.begin())


def pytest_report_header(config: pytest.Config) -> list[str]:
    return [config.stash[_NPU].header] if config.stash[_NPU].header else []


@pytest.hookimpl(trylast=True)  # after -k, -m and --deselect
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        marker = item.get_closest_marker("npu")
        reason = _reason(config, item.nodeid, marker) if marker else ""
        if reason and config.option.npu_required:
            raise pytest.UsageError(f"--npu-required: {item.nodeid} {reason}")
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))


def _reason(config: pytest.Config, name: str, marker: pytest.Mark) -> str:
    """Why a test is skipped, or nothing."""
    torch = marker.kwargs.get("torch", True)
    if marker.args or set(marker.kwargs) - {"torch"} or not isinstance(torch, bool):
        words = ", ".join(
            [*map(repr, marker.args), *(f"{k}={v!r}" for k, v in marker.kwargs.items())]
        )
        raise pytest.UsageError(f"{name} is marked npu({words}), expected npu(torch=True or False)")
    if config.stash[_NPU].missing:
        return config.stash[_NPU].missing
    # Only looked for: one that is here and does not load is to fail, not to skip.
    absent = [each for each in ("torch", "torch_npu") if torch and find_spec(each) is None]
    return f"needs {' and '.join(absent)}, not installed here" if absent else ""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator:
    return (yield from _watched(item, "setup"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator:
    return (yield from _watched(item, "call"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator:
    return (yield from _watched(item, "teardown"))


def _watched(item: pytest.Item, phase: str) -> Generator:
    """A part of a test, which fails where something was reported meanwhile."""
    npu = item.config.stash[_NPU]
    if npu.reports is None:
        return (yield)
    npu.outside += npu.reports.new()
    try:
        result = yield
    except pytest.skip.Exception:
        _fail_if_found(npu)
        raise
    except BaseException:
        found = npu.reports.new()
        if found:
            item.add_report_section(phase, "openaclnn", "\n".join(found))
        raise
    _fail_if_found(npu)
    return result


def _fail_if_found(npu: _Npu) -> None:
    found = npu.reports.new()
    if found:
        pytest.fail("\n".join(found), pytrace=False)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    npu = session.config.stash[_NPU]
    if npu.reports is None:
        return
    npu.outside += npu.reports.new()
    if npu.outside and session.exitstatus in (
        pytest.ExitCode.OK,
        pytest.ExitCode.NO_TESTS_COLLECTED,
    ):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    outside = config.stash[_NPU].outside
    if outside:
        terminalreporter.section("openaclnn: found while no test ran", red=True)
        terminalreporter.write_line("\n".join(outside))
