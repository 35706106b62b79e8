# SPDX-License-Identifier: Apache-2.0
"""The commands around a program: run, env, doctor, explain."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import findings, refused

from openaclnn.tool.doctor import doctor
from openaclnn.native import libraries

LOAD = "import ctypes; print(ctypes.CDLL('libopapi.so').aclnnEmbedding is not None)"


def test_run_puts_the_libraries_in_place(tool):
    assert tool("run", "--", sys.executable, "-c", LOAD, LD_LIBRARY_PATH="").stdout == "True\n"


def test_run_passes_options_and_the_exit_code_on(tool):
    assert tool("run", "--", "sh", "-c", "echo $0 $1; exit 7", "--json", "-x") == (
        type(tool("--version"))(7, "--json -x\n", "")
    )


def test_run_acts_as_the_product_asked_for(tool):
    run = tool("run", "--soc", "Ascend310P3", "--", "sh", "-c", "echo $OPENACLNN_SOC")
    assert run.stdout == "Ascend310P3\n"


@pytest.mark.parametrize("command", [("no-such-program",), ("./no/such/path",)])
def test_run_refuses_what_is_no_program(tool, command):
    run = tool("run", "--", *command)
    assert (run.code, run.stdout) == (2, "") and command[0] in run.stderr


def test_env_is_what_set_env_sets(tool):
    home = libraries.find()
    script = 'eval "$1"; echo "$ASCEND_HOME_PATH:${LD_LIBRARY_PATH%%:*}"'
    printed = subprocess.run(
        ["sh", "-c", script, "sh", tool("env").stdout], capture_output=True, text=True, check=True
    )
    assert printed.stdout == f"{home.resolve()}:{home.resolve()}/lib64/openaclnn/cann/lib64\n"
    assert tool("env", "--json").json["ASCEND_HOME_PATH"] == str(home.resolve())


def test_doctor_finds_a_sound_installation_sound(tool):
    run = tool("doctor", "--json", OPENACLNN_SIMD="baseline", OPENACLNN_NUM_THREADS="3")
    found = findings(run)
    assert run.code == 0 and not [each for each in found.values() if each[0] == "problem"]
    assert found["SIMD level"] == ("ok", "baseline") and found["threads"] == ("ok", "3")
    assert found["product"][1].startswith("Ascend910B1 ")


def test_doctor_says_nothing_alarming_of_a_sound_wheel(monkeypatch, tmp_path):
    """Which has no links, and is on no path of a shell."""
    home = tmp_path / "openaclnn/cann"
    (home / "lib64").mkdir(parents=True)
    for name in (*doctor._NAMES, *doctor._CLIENT_NAMES):
        (home / "lib64" / name).touch()
    (outside,) = doctor._siblings(home)
    assert outside.verdict == "note" and "libopapi_nn.so" in outside.detail
    monkeypatch.setattr(doctor, "__file__", str(home.parent / "tool/doctor/doctor.py"))
    assert [each.verdict for each in doctor._siblings(home)] == ["ok"]
    absent = {"error": "libopapi.so: cannot open shared object file: No such file or directory"}
    assert doctor._where("libopapi.so", "here", absent).verdict == "ok"
    assert doctor._where("libopapi.so", "under run", absent).verdict == "problem"
    broken = {"error": "libopapi.so: undefined symbol: x"}
    assert doctor._where("libopapi.so", "here", broken).verdict == "note"


def test_doctor_says_once_what_holds_for_several_libraries(new_tool):
    printed = new_tool("doctor", LD_LIBRARY_PATH="", COLUMNS="200").stdout
    assert printed.count("source set_env.sh") == 1
    beside, *beneath = [line for line in printed.splitlines() if ".so here" in line]
    assert doctor._NAMES[0] in beside and "source set_env.sh" in beside
    assert [line.split() for line in beneath] == [[each, "here"] for each in doctor._NAMES[1:]]


def test_doctor_names_an_unknown_product(tool):
    run = tool("doctor", "--json", "--soc", "Ascend1")
    verdict, detail = findings(run)["configuration"]
    assert (run.code, verdict) == (4, "problem")
    assert "'Ascend1'" in detail and "Ascend950PR_9579" in detail


def copy_of_the_toolkit(tmp_path: Path) -> Path:
    home = tmp_path / "toolkit"
    subprocess.run(["cp", "-a", str(libraries.find()), str(home)], check=True)
    return home


@pytest.mark.parametrize("columns", ["40", "80", "100"])
def test_doctor_keeps_paths_whole(tool, tmp_path, columns):
    home = str(copy_of_the_toolkit(tmp_path))
    wide = tool("doctor", OPENACLNN_HOME=home, COLUMNS="999").stdout
    narrow = tool("doctor", OPENACLNN_HOME=home, COLUMNS=columns).stdout
    assert sorted(narrow.split()) == sorted(wide.split()) and f"{home}/lib64/libopapi.so" in narrow
    too_long = [line for line in narrow.splitlines() if len(line) > int(columns)]
    assert [line for line in too_long if len(line.split()) > 1] == []  # but for a path alone


def test_doctor_names_a_missing_library(tool, tmp_path):
    home = copy_of_the_toolkit(tmp_path)
    (home / "lib64" / "libnnopbase.so").unlink()
    run = tool("doctor", "--json", OPENACLNN_HOME=str(home))
    assert run.code == 4 and "libnnopbase.so" in findings(run)["toolkit"][1]


def test_doctor_names_a_library_that_torch_npu_misses(tool, tmp_path):
    home = copy_of_the_toolkit(tmp_path)
    (home / "lib64" / "libgraph.so").unlink()
    run = tool("doctor", "--json", OPENACLNN_HOME=str(home))
    verdict, detail = findings(run)["siblings"]
    assert (run.code, verdict) == (4, "problem")
    assert "libgraph.so" in detail and "torch-npu" in detail


@pytest.mark.parametrize(
    ("torch", "code", "verdict"), [("2.8.0+cu128", 0, "ok"), ("2.9.0", 4, "problem")]
)
def test_doctor_compares_torch_with_torch_npu(new_tool, tmp_path, torch, code, verdict):
    for name, version in (("torch", torch), ("torch_npu", "2.8.0.post5")):
        folder = tmp_path / f"{name}-{version}.dist-info"
        folder.mkdir()
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        (folder / "METADATA").write_text(text)
    run = new_tool("doctor", "--json", PYTHONPATH=str(tmp_path))
    assert run.code == code and findings(run)["torch"][0] == verdict


def test_doctor_sees_another_library_in_the_way(tool, tmp_path):
    other = tmp_path / "cann"
    other.mkdir()
    source = other / "empty.c"
    source.write_text("int aclInit(const char* path) { return path != 0; }\n")
    for name in ("libascendcl.so", "libnnopbase.so", "libopapi.so"):
        command = ["gcc", "-shared", "-fPIC", f"-Wl,-soname,{name}", "-o", name, source.name]
        subprocess.run(command, cwd=other, check=True)
    run = tool("doctor", "--json", LD_LIBRARY_PATH=str(other))
    verdict, detail = findings(run)["libascendcl.so here"]
    assert (run.code, verdict) == (4, "problem") and "real CANN in the way" in detail


def test_explain(tool):
    run = tool("explain", "561103")
    assert run.code == 0 and "ACLNN_ERR_INNER_NULLPTR" in run.stdout
    assert tool("explain", "call failed, error code is 507035", "--json").code == 0
    assert tool("explain", "999999").code == 2


def test_what_is_preloaded_already_stays_first(tool):
    """The runtime of a sanitizer must be the first of all libraries."""
    library = libraries.find().resolve() / "lib64" / "libopenaclnn_capture.so"
    run = tool("run", "--", "sh", "-c", "echo $LD_PRELOAD", OPENACLNN_CAPTURE="x",
               LD_PRELOAD=f"libm.so.6:{library}")  # fmt: skip
    assert run.stdout == f"libm.so.6 {library}\n", run
    again = tool("run", "--", "sh", "-c", "echo $LD_PRELOAD", OPENACLNN_CAPTURE="x",
                 LD_PRELOAD="libm.so.6")  # fmt: skip
    assert again.stdout == run.stdout, again


def with_torch_npu(tmp_path, version):
    """A folder for PYTHONPATH in which that version is installed."""
    told = tmp_path / version / f"torch_npu-{version}.dist-info"
    told.mkdir(parents=True)
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch-npu\nVersion: {version}\n")
    return str(told.parent)


@pytest.mark.parametrize("version, preloads", [("2.14.0", True), ("2.13.0.post1", True), ("2.9.0", False)])
def test_newer_torch_npu_loads_beside_cuda(tool, tmp_path, monkeypatch, version, preloads):
    library = libraries.find().resolve() / "lib64" / "libopenaclnn_torch_keys.so"
    script = tmp_path / "program"
    script.write_text(f"#!{sys.executable}\nimport os\nprint(os.environ.get('LD_PRELOAD'))\n")
    script.chmod(0o755)
    given = {"PYTHONPATH": with_torch_npu(tmp_path, version), "LD_PRELOAD": ""}
    by_env = tmp_path / "by_env"
    by_env.write_text(script.read_text().replace(f"#!{sys.executable}", "#!/usr/bin/env python3"))
    by_env.chmod(0o755)
    (tmp_path / "csv.py").write_text("raise SystemExit('a module of the user')\n")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").symlink_to(Path(sys.executable).parent)
    by_path = (f"bin/{Path(sys.executable).name}", str(script))
    for command in ((str(script),), (sys.executable, str(script)), (str(by_env),), by_path):
        printed = tool("run", "--", *command, **given).stdout
        assert printed == (f"{library}\n" if preloads else "\n"), command
    # A program of another language has no torch-npu.
    assert tool("run", "--", "sh", "-c", "echo $LD_PRELOAD", **given).stdout == "\n"


def test_a_library_that_cannot_be_preloaded(tool, tmp_path):
    home = copy_of_the_toolkit(tmp_path)
    spaced = home.rename(home.with_name("with space"))
    run = tool("run", "--", "true", OPENACLNN_CAPTURE="x", OPENACLNN_HOME=str(spaced))
    refused(run, 4, "LD_PRELOAD cannot name it")
    (spaced / "lib64" / "libopenaclnn_capture.so").unlink()
    run = tool("run", "--", "true", OPENACLNN_CAPTURE="x", OPENACLNN_HOME=str(spaced))
    refused(run, 4, "which OPENACLNN_CAPTURE needs")
