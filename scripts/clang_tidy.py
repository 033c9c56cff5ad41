#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs clang-tidy over src/, interposer/ and tools/, a dozen files at a time, again only when something that they see
has changed.

usage: clang_tidy.py BUILD_DIRECTORY JOBS
BUILD_DIRECTORY is one in which every file is compiled by itself. Most of the time goes into the headers: files of a
target are looked at as one source that includes them, which takes a third of it. What was found clean is remembered in
build/clang-tidy-cache/ by the hash of the files, of all project headers they reach, of .clang-tidy and of the compile
command.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

TOOL = "clang-tidy-19"
FOLDERS = ("src/", "interposer/", "tools/")
CACHE = pathlib.Path("build/clang-tidy-cache")
BATCHES = pathlib.Path("build/clang-tidy-batches")
BATCH = 12
INCLUDE = re.compile(rb'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def reached_files(path, folders, seen):
    """`path` and every project file that it includes, directly or not."""
    if path in seen:
        return seen
    seen.add(path)
    for name in INCLUDE.findall(path.read_bytes()):
        for folder in [path.parent, *folders]:
            candidate = pathlib.Path(os.path.normpath(folder / name.decode()))
            if candidate.is_file():
                reached_files(candidate, folders, seen)
                break
    return seen


def key_of(batch):
    digest = hashlib.sha256(pathlib.Path(".clang-tidy").read_bytes())
    digest.update(batch.command.encode())
    folders = [pathlib.Path(name) for name in ("src", "include", "interposer", "tools", ".")]
    seen = set()
    for path in batch.paths:
        reached_files(path, folders, seen)
    for file in sorted(seen):
        digest.update(str(file).encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


class Batch:
    """Files of one folder that are compiled in the same way, and a source that includes them."""

    def __init__(self, number, directory, command, paths):
        self.paths = paths
        self.source = BATCHES / f"batch_{number}.cc"
        self.source.write_text("".join(f'#include "{path.absolute()}"\n' for path in paths), encoding="utf-8")
        # What lives in other people's processes lives as long as they do: nothing of it is destroyed before.
        if str(paths[0]).startswith(("src/", "interposer/")):
            command += " -Wexit-time-destructors"
        self.command = f"{command} -c {shlex.quote(str(self.source.absolute()))}"
        self.entry = {"directory": directory, "file": str(self.source.absolute()), "command": self.command}
        self.bytes = sum(path.stat().st_size for path in paths)


def batches_of(build):
    """All batches, and a compile_commands.json for them."""
    ways, seen = {}, set()
    for entry in json.loads(pathlib.Path(build, "compile_commands.json").read_text(encoding="utf-8")):
        path = pathlib.Path(os.path.relpath(os.path.join(entry["directory"], entry["file"])))
        if not str(path).startswith(FOLDERS) or path in seen:
            continue
        seen.add(path)
        # Without the last words, "-o OBJECT -c SOURCE".
        words = shlex.split(entry["command"])
        if words[-4] != "-o" or words[-2] != "-c":
            sys.exit(f"clang-tidy: what compiles {path} ends in other words than -o and -c: {entry['command']}")
        way = (str(path.parent), entry["directory"], shlex.join(words[:-4]), path.suffix)
        ways.setdefault(way, []).append(path)
    batches = []
    for (_, directory, command, _), paths in sorted(ways.items()):
        paths.sort()
        count = -(-len(paths) // BATCH)
        for i in range(count):
            part = paths[len(paths) * i // count:len(paths) * (i + 1) // count]
            batches.append(Batch(len(batches), directory, command, part))
    (BATCHES / "compile_commands.json").write_text(json.dumps([batch.entry for batch in batches]), encoding="utf-8")
    return batches


def check(batch):
    mark = CACHE / key_of(batch)
    if mark.exists():
        return True, ""
    # GCC's own options in the compile commands mean nothing to clang.
    result = subprocess.run(
        [TOOL, "--quiet", "-p", str(BATCHES), "--extra-arg=-Wno-unknown-warning-option",
         "--extra-arg=-Qunused-arguments", str(batch.source)], capture_output=True, text=True, check=False)
    if result.returncode == 0:
        mark.touch()
    return result.returncode == 0, result.stdout + result.stderr


def main(build, jobs):
    CACHE.mkdir(parents=True, exist_ok=True)
    BATCHES.mkdir(parents=True, exist_ok=True)
    # The longest ones first, so that they don't end by themselves.
    batches = sorted(batches_of(build), key=lambda batch: -batch.bytes)
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=int(jobs)) as pool:
        tasks = {pool.submit(check, batch): batch for batch in batches}
        for task in concurrent.futures.as_completed(tasks):
            clean, output = task.result()
            if not clean:
                failures += 1
                print(f"-- {', '.join(map(str, tasks[task].paths))}\n{output}")
    sources = sum(len(batch.paths) for batch in batches)
    print(f"clang-tidy: {sources} sources in {len(batches)} batches, {failures} with findings")
    return 1 if failures or not batches else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
