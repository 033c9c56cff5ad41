# SPDX-License-Identifier: BSD-3-Clause
"""Who may include whom, and headers and sources that nobody uses."""

import fnmatch
import json
import os
import pathlib
import re

from tree import Finding


def _in_order(*rooms):
    """Each may include those named before it."""
    return {room: list(rooms[:index]) for index, room in enumerate(rooms)}


# What each place may include besides itself, as the table in ARCHITECTURE.md has it. `engines` means src/engines/*.h,
# what all engines share; an engine's own folder is written engines/<name>.
_LOWER = ["base", "platform", "schedule", "algorithms", "reduction", "engines", "engines/*", "simulation", "selection",
          "protocol"]
ALLOWED = {
    "base": [],
    "protocol": [],
    "bpf": ["protocol"],
    "platform": ["base"],
    "schedule": ["base"],
    "algorithms": ["base", "schedule"],
    "reduction": ["base"],
    "engines": ["base", "platform", "schedule", "reduction", "protocol"],
    "simulation": ["base", "schedule", "algorithms", "protocol", "engines/nic"],
    "selection": ["base", "schedule", "algorithms", "simulation"],
    "carriers": _LOWER,
    "communicator": _LOWER + ["carriers"],
    "c_api": _LOWER + ["carriers", "communicator", "public"],
    "interposer": ["base", "public"],
    # The command shows plans and choices, and what of the machine they rest on.
    "tools": ["base", "platform", "schedule", "algorithms", "simulation", "selection", "public", "bpf", "protocol",
              "engines/nic", "reduction"],
    "examples": ["public"],
}
# Single headers of other places that a place may include.
ALLOWED_HEADERS = {
    "interposer": tuple(f"c_api/internal/{name}.h" for name in (
        "attention", "call", "cores", "early", "job_size", "leaving", "neighbourhood", "node_label", "notices",
        "pending", "set_up", "takeover", "timing/call_times", "timing/measured", "timing/trace",
        "vocabulary", "windows")) + tuple(
            f"platform/whereabouts/{name}.h"
            for name in ("description", "job_processes", "metrics", "observer", "own_record")) + (
                "platform/waiting/placement.h", "platform/waiting/wait_state.h", "platform/waiting/wake_board.h")
}
# What engines may have of src/engines besides their own folder: the executor owns the interface that they fill.
SHARED_BY_ENGINES = ("engines", "engines/executor")
# What an engine may have of another's folder: the interface that it fills.
OTHER_ENGINES = {"engines/multicast_verbs": ("engines/multicast",)}
# Rooms of one place, and what each may include of the others. What lies beside the rooms is for all of them, and knows
# of none unless `""` says so.
ROOMS = {
    "src/platform": {
        "machine": [],
        "memory": ["machine"],
        "bootstrap": ["machine", "memory"],
        "tracing": ["bootstrap"],
        "waiting": ["whereabouts"],
        "whereabouts": ["machine", "memory"],
    },
    "src/schedule": {
        "verifier": [],
        "dumps": ["verifier"],
    },
    "interposer/shim": _in_order("underneath", "job", "types", "buffers", "communicators", "collectives", "requests",
                                 "lifetime", "wrappers"),
    "tools": {
        "words": [],
        "supervision": [],
        "bpf_support": [],
        "bench": ["words", "supervision"],
        "probe": ["bench"],
        "mpi_launch": ["words", "supervision", "bench"],
        "tune": ["words", "supervision", "bench", "probe"],
        "run": ["words", "supervision"],
        "observe": ["words"],
        "pages": ["words"],
        "simulate": ["words", "pages"],
        "reproduce": ["words", "pages", "simulate"],
        "replay": [],
        "documentation": [],
        "lab": ["supervision", "bpf_support", "mpi_launch"],
        "nic": ["supervision", "bpf_support"],
        "bench/lab": ["words", "supervision", "bench", "lab", "nic"],
        "command": ["words", "supervision", "bench", "probe", "mpi_launch", "tune", "run", "observe", "nic",
                    "pages", "simulate", "reproduce", "replay", "documentation"],
        "lab/command": ["words", "supervision", "bench", "mpi_launch", "lab", "bench/lab", "command"],
    },
    "tools/bench": {
        "local": [],
        "mpi": [],
        "comparison": ["local", "mpi"],
        "lab": ["mpi"],
    },
    "tools/lab": {
        "packets": [],
        "building": ["packets"],
        "jobs": [],
        "command": ["packets", "building", "jobs"],
    },
}
# These may look at anything: they belong to no layer.
FREE = ("tests", "bench")
# Schedules and algorithms are data: they know no operating system, no clock and no thread.
PURE = ("schedule", "algorithms")
IMPURE_HEADER = re.compile(
    r"<(sys/.*|unistd\.h|fcntl\.h|sched\.h|pthread\.h|time\.h|ctime|chrono|thread|mutex|condition_variable|atomic|"
    r"linux/.*|signal\.h|csignal|fstream|random)>")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
FORTRAN_SUFFIXES = (".f90", ".f", ".f08")
FORTRAN_INCLUDE = re.compile(r"""^\s*include\s*["']([^"']+)["']""", re.MULTILINE | re.IGNORECASE)


def place_of(path):
    """The layer of a file: base, engines/shared_memory, interposer, public, ..."""
    parts = pathlib.PurePath(path).parts
    if parts[0] == "include":
        return "public"
    if parts[0] == "src" and len(parts) > 2:
        if parts[1] == "engines" and len(parts) > 3:
            return f"engines/{parts[2]}"
        return parts[1]
    return parts[0]


def room_of(path, folder):
    """The room in which a file of a folder lies, the innermost one; "" beside all of them."""
    inside = path[len(folder) + 1:]
    return max((room for room in ROOMS[folder] if inside.startswith(room + "/")), key=len, default="")


def resolve(tree, path, name):
    """The files of the tree that an include can mean: one; several where a layer has variants; or none."""
    parts = pathlib.PurePath(path).parts
    folders = [str(pathlib.PurePath(*parts[:-1])), "src", "include", parts[0], "interposer", "tools", "."]
    for folder in folders:
        candidate = os.path.normpath(f"{folder}/{name}")
        if tree.exists(candidate):
            return [candidate]
    # A header of which each variant of the layer has its own: interposer/<mpi>/native.h.
    variants = [f"{folder}/{name}" for folder in tree.folders_of(parts[0])]
    return [other for other in variants if tree.exists(other)]


def includes(tree, path):
    """Pairs of line number and included name, with its opening delimiter."""
    text = tree.text(path)
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(1)) + 1, match.group(1), match.group(2)


def may_include(source, target):
    if source == target or source.split("/")[0] in FREE:
        return True
    if source.startswith("engines/") and target in SHARED_BY_ENGINES + OTHER_ENGINES.get(source, ()):
        return True
    allowed = ALLOWED.get(source.split("/")[0], [])
    return target in allowed or (target.startswith("engines/") and "engines/*" in allowed)


def may_enter(path, target):
    """Whether a file may include another one as far as rooms of the same place are concerned."""
    for folder, rooms in ROOMS.items():
        if path.startswith(folder + "/") and target.startswith(folder + "/"):
            room, other = room_of(path, folder), room_of(target, folder)
            if other not in ("", room) and other not in rooms.get(room, []):
                return False
    return True


def check_directions(tree):
    for path in tree.cxx():
        source = place_of(path)
        for line, delimiter, name in includes(tree, path):
            if source in PURE and IMPURE_HEADER.fullmatch(f"<{name}>"):
                yield Finding("includes", path, line, f"{source} knows no operating system and no clock: <{name}>")
            targets = resolve(tree, path, name)
            if not targets:
                if delimiter == '"' and source.split("/")[0] not in FREE and name != "mpi.h":
                    yield Finding("includes", path, line, f'"{name}" is no file of this project: write <{name}>')
                continue
            target = place_of(targets[0])
            if not may_include(source, target) and name not in ALLOWED_HEADERS.get(source, ()):
                yield Finding("includes", path, line, f"{source} must not include {target} ({name})")
            elif not may_enter(path, targets[0]):
                yield Finding("includes", path, line, f"{pathlib.PurePath(path).parent} must not include {name}")


def check_dead_headers(tree):
    included = set()
    for path in tree.cxx():
        for _, _, name in includes(tree, path):
            included.update(target for target in resolve(tree, path, name) if target != path)
    for path in tree.paths:
        if path.lower().endswith(FORTRAN_SUFFIXES):
            folder = pathlib.PurePath(path).parent
            included.update(str(folder / name) for name in FORTRAN_INCLUDE.findall(tree.text(path)))
    for path in tree.cxx():
        if path.endswith((".h", ".inc")) and path not in included:
            yield Finding("dead-file", path, 1, "a header that nobody includes")


# Sources that the build proper doesn't compile, and who does.
COMPILED_ELSEWHERE = {
    "examples/barriers_ahead.c": "compiled by each MPI's own compiler: tests/integration/lab/nic_mpi_test.py",
    "examples/heat2d/heat2d.c": "compiled by each MPI's own compiler: scripts/demo.py, tests/integration",
    "examples/samplesort/samplesort.c": "compiled by each MPI's own compiler: scripts/demo.py, tests/integration",
    "examples/samplesort/sort.c": "compiled by each MPI's own compiler: scripts/demo.py, tests/integration",
    "examples/fft/fft.c": "compiled by each MPI's own compiler: scripts/demo.py, tests/integration",
    "examples/collector/collector.c": "compiled by each MPI's own compiler: tests/integration/examples",
    "examples/fft/solver.c": "compiled by each MPI's own compiler: scripts/demo.py, tests/integration",
    "examples/stories/heat3d.cc": "compiled by a page that ./dev stories runs",
    "tests/integration/install/consumer.c": "compiled against the installed tree by its test",
}


def _compiled_as(path):
    """Itself, and the sources that are compiled as one by a file of CMake's."""
    if not pathlib.PurePath(path).name.startswith("unity_"):
        return [path]
    return re.findall(r'^#include "([^"]+)"', pathlib.Path(path).read_text(encoding="utf-8"), re.MULTILINE)


def check_dead_sources(tree, build_directory):
    """Every C and C++ source is compiled by the build in `build_directory`, or by a script that names it."""
    with open(os.path.join(build_directory, "compile_commands.json"), encoding="utf-8") as file:
        compiled = [os.path.join(entry["directory"], entry["file"]) for entry in json.load(file)]
    built = {os.path.relpath(path, tree.root) for each in compiled for path in _compiled_as(each)}
    scripts = "\n".join(tree.text(path) for path in tree.paths
                        if path.endswith((".sh", ".py", "CMakeLists.txt", ".cmake")) and "tidy" not in path)
    for path in tree.cxx():
        if not path.endswith((".cc", ".c")) or path in built or path in COMPILED_ELSEWHERE:
            continue
        # Programs for a foreign compiler are named by the script that compiles them.
        foreign = ("tests/integration/", "bench/around/", "bench/overlap/", "bench/programs/", "bench/python/",
                   "bench/record/", "bench/situations/", "cmake/portable/")
        if path.startswith(foreign) and pathlib.PurePath(path).name in scripts:
            continue
        if path.endswith(".bpf.c") and path in scripts:
            continue
        yield Finding("dead-file", path, 1, "a source that nothing builds")


def is_globbed(tree, path):
    """Whether a CMakeLists.txt in the file's folder or above it takes files by a pattern that this name fits:
    a glob, or a name with a variable of CMake in it."""
    pure = pathlib.PurePath(path)
    for folder in pure.parents:
        lists = str(folder / "CMakeLists.txt")
        if tree.exists(lists):
            text = re.sub(r"\$\{\w+\}", "*", tree.text(lists))
            for pattern in re.findall(r"[^\s/)]*\*[^\s/)]*\.(?:py|sh)\b", text):
                if not pattern.startswith("*.") and fnmatch.fnmatch(pure.name, pattern):
                    return True
    return False


def check_dead_scripts(tree):
    """Scripts and pages that no other file mentions by name."""
    for path in tree.paths:
        name = pathlib.PurePath(path).name
        is_page = path.startswith("docs/") and path.endswith(".md")
        if (not is_page and not path.endswith((".sh", ".py"))) or is_globbed(tree, path):
            continue
        wanted = name if not path.endswith(".py") else pathlib.PurePath(path).stem
        pattern = re.compile(rf"\b{re.escape(wanted)}\b")
        if not any(pattern.search(tree.text(other)) for other in tree.paths
                   if other != path and not other.endswith((".svg", ".json", ".png"))):
            # scripts/<verb>.sh is reached through dev, which builds the name.
            if path.startswith("scripts/") and re.search(rf"\b{pathlib.PurePath(path).stem}\b", tree.text("dev")):
                continue
            yield Finding("dead-file", path, 1, "no other file mentions it")
