# SPDX-License-Identifier: Apache-2.0
"""ccache has the same settings in every build, else none finds what another has compiled."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRESETS = json.loads((ROOT / "CMakePresets.json").read_text("utf-8"))
CONFIGURE = {each["name"]: each for each in PRESETS["configurePresets"]}
SETTINGS = CONFIGURE["base"]["environment"]


def test_every_preset_has_the_settings_of_the_base():
    assert SETTINGS == {"CCACHE_BASEDIR": "${sourceDir}", "CCACHE_NOHASHDIR": "1"}
    for name, preset in CONFIGURE.items():
        line = [name]
        while "inherits" in preset:
            assert "environment" not in preset, name
            line.append(preset["inherits"])
            preset = CONFIGURE[line[-1]]
        assert line[-1] == "base"
    assert all(each.get("inheritConfigureEnvironment", True) for each in PRESETS["buildPresets"])
    assert {each["configurePreset"] for each in PRESETS["buildPresets"]} == {*CONFIGURE} - {"base"}


def test_wheels_which_know_no_presets_have_the_same():
    text = (ROOT / "scripts/packaging/wheel.sh").read_text("utf-8")
    exported = dict(re.findall(r"(\w+)=(\S+)", " ".join(re.findall(r"^export (.*)$", text, re.M))))
    named = {name: value for name, value in exported.items() if name.startswith("CCACHE_")}
    assert named == {name: value.replace("${sourceDir}", "$PWD") for name, value in SETTINGS.items()}
    for name, value in CONFIGURE["base"]["cacheVariables"].items():
        assert exported[name] == value


def test_nothing_else_sets_them_or_goes_without():
    makefile, ci = ((ROOT / each).read_text("utf-8") for each in ("Makefile", ".ci/run"))
    assert "CCACHE_" not in makefile + ci
    assert not re.search(r"cmake (-S|--build build/)", makefile)
