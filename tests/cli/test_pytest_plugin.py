# SPDX-License-Identifier: Apache-2.0
"""pytest with --npu: what is in place, what is skipped and why, what fails for a mistake."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from openaclnn.native import libraries

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ("-p", "openaclnn.pytest_plugin")
PYTHON = [sys.executable, *(["-S"] if sys.flags.no_site else [])]

ACL = """
import ctypes, subprocess, sys
import pytest

acl = ctypes.CDLL("libascendcl.so")  # found by its name alone
acl.aclrtGetSocName.restype = ctypes.c_char_p
memory = ctypes.c_void_p()
assert acl.aclInit(None) == 0 and acl.aclrtSetDevice(0) == 0
assert acl.aclrtMalloc(ctypes.byref(memory), ctypes.c_size_t(64), 0) == 0

def fill(streams):
    \"\"\"Writes the same memory on so many streams, in no order.\"\"\"
    for _ in range(streams):
        stream, four = ctypes.c_void_p(), ctypes.c_size_t(4)
        assert acl.aclrtCreateStream(ctypes.byref(stream)) == 0
        assert acl.aclrtMemsetAsync(memory, four, 1, four, stream) == 0
"""
NEEDS_NOTHING = "import pytest\n@pytest.mark.npu(torch=False)\n"


@pytest.fixture
def run(pytester, monkeypatch):
    """pytest in a process of its own, as who has sourced nothing starts it."""
    for name in ("LD_LIBRARY_PATH", "ASCEND_HOME_PATH", "OPENACLNN_CHECK", "OPENACLNN_SOC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("OPENACLNN_HOME", str(libraries.find().resolve()))

    def run(*arguments, **environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return pytester.run(*PYTHON, "-m", "pytest", *PLUGIN, "-rA", *arguments)

    return run


def said(ended, *parts: str) -> None:
    text = ended.stdout.str() + ended.stderr.str()
    for part in parts:
        assert part in text, (part, text)


def test_loading_it_imports_nothing():
    """Neither of the package nor, which is as slow, of what that needs."""
    script = (
        "import sys, pytest; before = set(sys.modules)\n"
        "import openaclnn.pytest_plugin\n"
        "assert not {'numpy', 'torch', 'rich', 'typer', 'ctypes'} & (set(sys.modules) - before)\n"
        "print(sorted(each for each in set(sys.modules) - before if 'openaclnn' in each))"
    )
    ended = subprocess.run([*PYTHON, "-c", script], capture_output=True, text=True, check=True)
    assert ast.literal_eval(ended.stdout) == ["openaclnn", "openaclnn.errors", "openaclnn.pytest_plugin"]


def test_it_is_an_entry_point(pytester, monkeypatch):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (name, module), *more = project["entry-points"]["pytest11"].items()
    assert not more
    information = pytester.mkdir("site") / "sample-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: sample\nVersion: 1\n")
    (information / "entry_points.txt").write_text(f"[pytest11]\n{name} = {module}\n")
    monkeypatch.setenv("PYTHONPATH", f"{information.parent}:{os.environ.get('PYTHONPATH', '')}")
    ended = pytester.run(*PYTHON, "-m", "pytest", "--help")
    said(ended, "--npu-required", "--npu-check={off,fast,full}", "--npu-soc=NAME")


def test_without_the_option_tests_are_skipped(pytester, run):
    pytester.makepyfile(NEEDS_NOTHING + "def test_it(): raise AssertionError\ndef test_other(): pass")
    ended = run("--strict-markers")
    ended.assert_outcomes(skipped=1, passed=1)
    said(ended, "needs --npu")


def test_the_module_acl_is_in_place(pytester, run):
    test = "def test_it():\n    import acl\n    assert acl.get_soc_name() == 'Ascend310P3'"
    pytester.makepyfile(NEEDS_NOTHING + test)
    run("--npu", "--npu-soc", "Ascend310P3").assert_outcomes(passed=1)


def test_the_libraries_are_in_place(pytester, run):
    files = (libraries.find() / "lib64").glob("lib*.so")
    names = sorted(each.name for each in files if not each.is_symlink())  # programs link the target
    # Those of openaclnn's own must be in front of all, or are none.
    names = [each for each in names if not each.startswith("libopenaclnn_")]
    pytester.makeconftest(ACL)  # as one that imports torch
    pytester.makepyfile(
        f"""
        import ctypes, os, pytest, subprocess, sys
        pytestmark = pytest.mark.npu(torch=False)

        @pytest.mark.parametrize("name", {names})
        def test_by_name(name):
            ctypes.CDLL(name)

        def test_programs():
            script = "import ctypes; ctypes.CDLL('libopapi.so').aclnnEmbedding"
            subprocess.run([sys.executable, "-c", script], check=True)
            assert os.environ["ASCEND_HOME_PATH"] == os.environ["OPENACLNN_HOME"]
        """
    )
    ended = run("--npu")
    ended.assert_outcomes(passed=len(names) + 1)
    said(ended, f"in {libraries.find().resolve()}, Ascend910B1, checks fast")


def test_a_conftest_that_names_it(pytester, run):
    """Where it is not installed, as with PYTHONPATH."""
    pytester.makeconftest("pytest_plugins = ['openaclnn.pytest_plugin']")
    command = [*PYTHON, "-m", "pytest"]
    pytester.makepyfile(NEEDS_NOTHING + "def test_it(): pass")
    pytester.run(*command).assert_outcomes(skipped=1)
    pytester.makepyfile(RACE)
    pytester.run(*command, "--npu", "--npu-check=full").assert_outcomes(passed=2, failed=1)


def test_the_environment_is_put_back(pytester, monkeypatch):
    monkeypatch.delenv("OPENACLNN_CHECK", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(NEEDS_NOTHING + "def test_it(): import os; assert os.environ['OPENACLNN_SOC']")
    before = dict(os.environ)
    ended = pytester.runpytest_inprocess(*PLUGIN, "--npu", "--npu-soc", "Ascend310P3")
    ended.assert_outcomes(passed=1)
    after = {name: text for name, text in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    assert after == {name: text for name, text in before.items() if name in after}


def test_what_needs_torch_npu_is_skipped_without(pytester, run):
    pytester.makepyfile("import pytest\n@pytest.mark.npu\ndef test_it(): raise AssertionError")
    ended = run("--npu")
    ended.assert_outcomes(skipped=1)
    said(ended, "needs torch and torch_npu, not installed here")
    ended = run("--npu-required")
    assert ended.ret == pytest.ExitCode.USAGE_ERROR
    said(ended, "--npu-required: ", "::test_it needs torch and torch_npu")
    assert run("--npu-required", "-k", "other").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    for name in ("torch", "torch_npu"):
        pytester.makepyfile(**{name: ""})
    run("--npu").assert_outcomes(failed=1)


def test_without_libraries_tests_are_skipped(pytester, run):
    pytester.makepyfile(NEEDS_NOTHING + "def test_it(): raise AssertionError\ndef test_other(): pass")
    ended = run("--npu", OPENACLNN_HOME="/nowhere")
    ended.assert_outcomes(skipped=1, passed=1)
    said(ended, "SKIPPED", "OPENACLNN_HOME is /nowhere, which has no lib64/libascendcl.so")
    ended = run("--npu-required")
    assert ended.ret == pytest.ExitCode.USAGE_ERROR
    said(ended, "--npu-required: OPENACLNN_HOME is /nowhere")


@pytest.mark.parametrize(
    "words, arguments",
    [("(True)", "True"), ("(tourch=False)", "tourch=False"), ("(torch=0)", "torch=0")],
)
def test_a_marker_that_says_something_else(pytester, run, words, arguments):
    pytester.makepyfile(f"import pytest\n@pytest.mark.npu{words}\ndef test_it(): pass")
    ended = run()
    assert ended.ret == pytest.ExitCode.USAGE_ERROR
    said(ended, f"::test_it is marked npu({arguments}), expected npu(torch=True or False)")


RACE = ACL + (
    "def test_before(): fill(1)\n"
    "@pytest.mark.npu(torch=False)\n"
    "def test_race(): fill(3)\n"
    "@pytest.mark.npu(torch=False)\n"
    "def test_after():\n    pass\n"
)


def test_the_test_that_makes_a_mistake_fails(pytester, run):
    pytester.makepyfile(RACE)
    run("--npu").assert_outcomes(passed=3)
    ended = run("--npu", "--npu-check", "full")
    ended.assert_outcomes(passed=2, failed=1)
    said(ended, "FAILED", "openaclnn: racecheck: nothing orders aclrtMemsetAsync on stream", "  fix:")
    failed = ended.stdout.str().partition("= FAILURES =")[2]
    assert "test_race" in failed.partition("openaclnn: racecheck")[0]


def test_the_environment_s_level_counts(pytester, run):
    pytester.makepyfile(RACE)
    run("--npu", OPENACLNN_CHECK="full").assert_outcomes(passed=2, failed=1)
    pytester.makepyfile(RACE + "    import os; assert 'OPENACLNN_CHECK_JSON' not in os.environ\n")
    run("--npu", "--npu-check=off").assert_outcomes(passed=3)


def test_a_mistake_of_a_program_that_a_test_starts(pytester, run):
    pytester.makepyfile(
        NEEDS_NOTHING
        + "def test_it():\n"
        + f"    import subprocess, sys\n    text = {ACL + 'fill(2)'!r}\n"
        + "    subprocess.run([sys.executable, '-c', text], check=True)\n"
    )
    run("--npu", "--npu-check=full").assert_outcomes(failed=1)


def test_a_mistake_of_a_program_in_another_folder(pytester, run):
    pytester.makepyfile(
        NEEDS_NOTHING
        + "def test_it(tmp_path):\n"
        + f"    import subprocess, sys\n    text = {ACL + 'fill(2)'!r}\n"
        + "    subprocess.run([sys.executable, '-c', text], check=True, cwd=tmp_path)\n"
    )
    ended = run("--npu", "--npu-check=full", OPENACLNN_CHECK_JSON="report.jsonl")
    ended.assert_outcomes(failed=1)
    assert (pytester.path / "report.jsonl").is_file()


def test_a_mistake_in_each_part_of_a_test(pytester, run):
    free = "acl.aclrtFree(ctypes.c_void_p({}))"
    pytester.makepyfile(
        ACL
        + "@pytest.fixture\ndef before(): "
        + free.format(1)
        + "\n@pytest.fixture\ndef after():\n    yield\n    fill(2)\n"
        + "def test_before(before): pass\n"
        + "def test_skips(): acl.aclrtFree(memory); acl.aclrtFree(memory); pytest.skip('late')\n"
    )
    ended = run("--npu", "--npu-check=full")
    ended.assert_outcomes(errors=1, failed=1)
    pytester.makepyfile(
        ACL
        + "@pytest.fixture\ndef after():\n    yield\n    fill(2)\n"
        + "def test_after(after): pass\n"
    )
    run("--npu", "--npu-check=full").assert_outcomes(errors=1, passed=1)


def test_a_mistake_is_told_beside_what_failed(pytester, run):
    pytester.makepyfile(ACL + "def test_it(): fill(2); raise AssertionError('its own')")
    ended = run("--npu", "--npu-check=full")
    ended.assert_outcomes(failed=1)
    said(ended, "AssertionError: its own", "Captured openaclnn call", "openaclnn: racecheck: ")


def test_a_mistake_of_no_test_fails_the_run(pytester, run):
    pytester.makepyfile(ACL + "fill(2)\ndef test_it(): pass")
    ended = run("--npu", "--npu-check=full")
    ended.assert_outcomes(passed=1)
    assert ended.ret == pytest.ExitCode.TESTS_FAILED
    said(ended, "openaclnn: found while no test ran", "openaclnn: racecheck: nothing orders")


def test_reports_of_ended_runs_are_removed(pytester, run):
    pytester.makepyfile(ACL + "fill(2)\ndef test_it(): pass")
    folder = pytester.mkdir("temporary")
    for _ in range(3):
        run("--npu", "--npu-check=full", TMPDIR=str(folder))
        assert len(list(folder.glob("openaclnn-check-*"))) <= 1


def test_under_openaclnn_run_both_count(pytester, run):
    pytester.makepyfile(RACE)
    command = [*PYTHON, "-m", "pytest", *PLUGIN, "--npu"]
    tool = [*PYTHON, "-m", "openaclnn", "run", "--check", "full", "--"]
    ended = pytester.run(*tool, *command)
    assert ended.ret == 5
    ended.assert_outcomes(passed=2, failed=1)
    said(ended, "check summary: 3 errors")


def test_one_product(pytester, run):
    pytester.makepyfile(
        ACL + "@pytest.mark.npu(torch=False)\n"
        "def test_it(): assert acl.aclrtGetSocName() == b'Ascend310P3'"
    )
    ended = run("--npu", "--npu-soc", "Ascend310P3")
    ended.assert_outcomes(passed=1)
    said(ended, ", Ascend310P3, checks fast")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--npu", "--npu-soc", "Ascend910B1,Ascend310P3"], "expected one product"),
        (["--npu", "--npu-soc", "Ascend1"], "OPENACLNN_SOC is 'Ascend1', expected"),
        (["--npu", "--npu-check", "some"], "invalid choice: 'some'"),
        (["--npu-check", "full"], "--npu-check needs --npu"),
        (["--npu-soc", "Ascend310P3"], "--npu-soc needs --npu"),
    ],
)
def test_what_is_refused(pytester, run, arguments, words):
    pytester.makepyfile("def test_it(): pass")
    ended = run(*arguments)
    assert ended.ret == pytest.ExitCode.USAGE_ERROR
    said(ended, words)


def test_the_loop_that_is_told_runs(pytester, run):
    """For several products: what the error says, as the shell reads it."""
    pytester.makepyfile("def test_it(): pass")
    text = run("--npu", "--npu-soc", "Ascend910B1,Ascend310P3").stderr.str()
    loop = re.search(r"for soc in .*; done", text)[0]
    command = " ".join([*PYTHON, "-m pytest", *PLUGIN])
    ended = pytester.run("bash", "-c", loop.replace("pytest", command))
    products = re.findall(r"openaclnn: .*, (\w+), checks fast", ended.stdout.str())
    assert products == ["Ascend910B1", "Ascend310P3"]


def test_the_page(pytester, run):
    """What docs/pytest.md shows is what pytest says."""
    page = (ROOT / "docs/pytest.md").read_text("utf-8")
    text, commands, words = re.findall(r"^```(?:python|sh|text)\n(.*?)^```$", page, re.M | re.S)
    pytester.path.joinpath("test_page.py").write_text(text)
    ended = [run(*line.split()[1:]) for line in commands.splitlines()]
    output = "".join(each.stdout.str() for each in ended)
    for line in words.splitlines():
        assert line in output, output
    options = re.findall(r"^\| `(--npu[\w-]*)", page, re.M)
    assert options == ["--npu", "--npu-required", "--npu-check", "--npu-soc"]
