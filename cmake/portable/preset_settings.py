# SPDX-License-Identifier: BSD-3-Clause
"""The settings of a configure preset as pip's front ends pass them to scikit-build-core, one a line.

usage: preset_settings.py PRESET"""

import json
import pathlib
import sys

PRESETS = pathlib.Path(__file__).resolve().parents[2] / "CMakePresets.json"


def cache_variables(presets, name):
    """Those of the preset and of what it inherits; its own win."""
    preset = presets[name]
    parents = preset.get("inherits", [])
    found = {}
    for parent in reversed([parents] if isinstance(parents, str) else parents):
        found |= cache_variables(presets, parent)
    return found | preset.get("cacheVariables", {})


def main():
    if len(sys.argv) != 2:
        sys.exit("preset_settings.py: which preset? One of CMakePresets.json, such as release")
    presets = {preset["name"]: preset for preset in json.loads(PRESETS.read_text(encoding="utf-8"))["configurePresets"]}
    if sys.argv[1] not in presets:
        sys.exit(f"preset_settings.py: CMakePresets.json has no preset `{sys.argv[1]}`, only {', '.join(presets)}")
    for variable, value in cache_variables(presets, sys.argv[1]).items():
        # The type of build is the backend's own setting.
        setting = "cmake.build-type" if variable == "CMAKE_BUILD_TYPE" else f"cmake.define.{variable}"
        print(f"-C{setting}={value}")


if __name__ == "__main__":
    main()
