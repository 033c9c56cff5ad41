#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs clang-tidy over src/, interposer/ and tools/, a file again only when something that it sees has changed.

usage: clang_tidy.py BUILD_DIRECTORY JOBS
What was found clean is remembered in build/clang-tidy-cache/ by the hash of the file, of all project headers it
reaches, of .clang-tidy and of its compile command.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

TOOL = "clang-tidy-19"
FOLDERS = ("src/", "interposer/", "tools/")
CACHE = pathlib.Path("build/clang-tidy-cache")
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


def key_of(path, command):
    digest = hashlib.sha256(pathlib.Path(".clang-tidy").read_bytes())
    digest.update(command.encode())
    folders = [pathlib.Path(name) for name in ("src", "include", "interposer", "tools", ".")]
    for file in sorted(reached_files(path, folders, set())):
        digest.update(str(file).encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def check(build, path, command):
    mark = CACHE / key_of(path, command)
    if mark.exists():
        return True, ""
    # GCC's own options in the compile commands mean nothing to clang.
    result = subprocess.run(
        [TOOL, "--quiet", "-p", build, "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Qunused-arguments",
         str(path)], capture_output=True, text=True, check=False)
    if result.returncode == 0:
        mark.touch()
    return result.returncode == 0, result.stdout + result.stderr


def main(build, jobs):
    CACHE.mkdir(parents=True, exist_ok=True)
    entries = {}
    for entry in json.loads(pathlib.Path(build, "compile_commands.json").read_text(encoding="utf-8")):
        path = os.path.relpath(os.path.join(entry["directory"], entry["file"]))
        if path.startswith(FOLDERS):
            entries.setdefault(pathlib.Path(path), entry["command"])
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=int(jobs)) as pool:
        tasks = {pool.submit(check, build, path, command): path for path, command in sorted(entries.items())}
        for task in concurrent.futures.as_completed(tasks):
            clean, output = task.result()
            if not clean:
                failures += 1
                print(f"-- {tasks[task]}\n{output}")
    print(f"clang-tidy: {len(entries)} sources, {failures} with findings")
    return 1 if failures or not entries else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
