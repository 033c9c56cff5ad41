# SPDX-License-Identifier: BSD-3-Clause
"""Runs the pages of docs/stories/: types what they tell their readers to type, and times each step.

  ./dev stories NAME ... | all   [--rounds 7] [--limit 60] [--write]
  ./dev stories --list

Prints how long the steps take and the numbers that come out; --write puts them, and what the commands print, into the
pages. What is compared is run --rounds times in turns; a side that takes longer than --limit seconds is given up.

Pages that use sudo run as root in an overlay over this machine's files, so that what they install is gone with them.
Wheels and packages are taken from dist/, and built (./dev wheel, ./dev package) where there are none."""

import argparse
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys

from page import Page

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGES = pathlib.Path(os.environ.get("HOCKET_STORIES", ROOT / "docs/stories"))
WORK = ROOT / "build/stories"
STEP_LIMIT_S = 900
SKIPPED = 77
INSIDE = "HOCKET_STORY_INSIDE"

# A block in the shell of those before it: their variables, functions and folder.
SHELL = """set -e -o pipefail
if [ -f {state} ]; then . {state}; fi
begin=$EPOCHREALTIME
. {block}
printf '%s %s' "$begin" "$EPOCHREALTIME" >{clock}
{{ export -p; declare -f; printf 'cd %q\\n' "$PWD"; }} >{state}
"""

# Keeps no variables, as the real one.
SUDO = """#!/bin/sh
exec env -i PATH="$PATH" HOME="$HOME" DEBIAN_FRONTEND=noninteractive "$@"
"""


def uses(page, words):
    return any(words in block.text for block in page.blocks)


def packages_of(page):
    """What the page installs from Debian."""
    lines = re.findall(r"apt-get install (.*(?:\\\n.*)*)", "\n".join(block.text for block in page.blocks))
    return sorted({word for line in lines for word in re.findall(r"(?<!\S)[a-z][a-z0-9.+-]+(?!\S)", line)})


def built(pattern, verb):
    """What the verb has built, the newest last."""
    for turn in range(2):
        found = sorted((ROOT / "dist").glob(pattern), key=lambda path: path.stat().st_mtime)
        if found:
            return found
        if turn == 0 and subprocess.run([ROOT / "dev", verb], cwd=ROOT, check=False).returncode != 0:
            break
    return sys.exit(f"stories: there is no dist/{pattern}, and ./dev {verb} made none")


def ended(process):
    """What a process has printed that is ended with its group."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        os.killpg(process.pid, number)
        try:
            return process.communicate(timeout=5)[0]
        except subprocess.TimeoutExpired:
            pass
    return process.communicate()[0]


class Shell:
    """Where a page's blocks run: a folder, and the state that each leaves to the next."""

    def __init__(self, page, folder, private):
        self.private, self.scratch = private, folder
        private.mkdir(parents=True)
        folder.mkdir(parents=True)
        self.wheel = built("hocket-*.whl", "wheel")[-1] if uses(page, "pip install") else None
        if not shutil.which("sudo"):
            (private / "sudo").write_text(SUDO, encoding="ascii")
            (private / "sudo").chmod(0o755)
        # What pages take from a checkout.
        for name in ("examples", "dist"):
            (folder / name).symlink_to(ROOT / name)

    def environment(self):
        ours = ("HOCKET_", "OMPI_", "MPIR_", "I_MPI_", "VIRTUAL_ENV", "PYTHON")
        found = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        found["PATH"] += f":{self.private}"
        found |= {"DEBIAN_FRONTEND": "noninteractive", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        if os.geteuid() == 0:
            found |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return found

    def run(self, text, limit):
        """(seconds, what is printed, exit status), of which None: it took longer than `limit`."""
        if self.wheel:
            text = re.sub(r"^(pip install .*)\bhocket$", rf"\1{self.wheel}", text, flags=re.MULTILINE)
        files = {name: self.private / name for name in ("state", "block", "clock")}
        files["block"].write_text(text, encoding="utf-8")
        with subprocess.Popen(["bash", "-c", SHELL.format(**files)], cwd=self.scratch, env=self.environment(),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", start_new_session=True) as process:
            try:
                printed, _ = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                return limit, ended(process), None
        if process.returncode != 0:
            return 0, printed, process.returncode
        begin, end = map(float, files["clock"].read_text(encoding="ascii").split())
        return end - begin, printed, 0


class Failure(Exception):
    pass


def run_block(shell, block, limit):
    seconds, printed, status = shell.run(block.text, limit)
    block.given_up = status is None and block.is_side
    if status != 0 and not block.given_up:
        why = "took too long" if status is None else f"exit status {status}"
        raise Failure(f"'{block.step}': {why}:\n{block.text}\n{printed}")
    block.record(seconds, printed)


def run_sides(shell, sides, options):
    for turn in range(options.rounds):
        for block in sides if turn % 2 == 0 else reversed(sides):
            if not block.given_up:
                run_block(shell, block, options.limit)
    results = {result for block in sides for result in block.results}
    if len(results) > 1:
        raise Failure(f"'{sides[0].step}': results differ: {'; '.join(sorted(results))}")


def run_blocks(page, shell, options):
    done = set()
    for block in page.blocks:
        if block.side == "finally":
            continue
        print(f"-- {page.title}: {block.step}{': ' + block.side if block.side else ''}", file=sys.stderr, flush=True)
        if not block.is_side:
            run_block(shell, block, STEP_LIMIT_S)
        elif block.step not in done:
            done.add(block.step)
            run_sides(shell, page.sides(block.step), options)


def run_page(page, shell, options):
    failures = []
    try:
        run_blocks(page, shell, options)
    except Failure as found:
        failures.append(found)
    finally:
        for block in page.blocks:
            if block.side == "finally":
                try:
                    run_block(shell, block, STEP_LIMIT_S)
                except Failure as found:
                    failures.append(found)
    if failures:
        sys.exit(f"stories: {page.title}: {failures[0]}")


def machine():
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii"))
    name = model.group(1) if model else platform.machine()
    return f"On {len(os.sched_getaffinity(0))} cores: {name}, Linux {'.'.join(platform.release().split('.')[:2])}"


def run_in_overlay(page, options, layers):
    if os.geteuid() != 0:
        print(f"stories: {page.title} is skipped: it installs packages in an overlay, which needs root")
        return SKIPPED
    arguments = [page.title, f"--rounds={options.rounds}", f"--limit={options.limit}"]
    if options.write:
        arguments.append("--write")
    # It dies with this process.
    command = ["setpriv", "--pdeathsig", "KILL", "bash", HERE / "root.sh", layers, ROOT, " ".join(packages_of(page)),
               "python3", "-B", HERE / "stories.py", *arguments]
    return subprocess.run(command, env={**os.environ, INSIDE: "1"}, check=False).returncode


def run_here(page, options, folder):
    run_page(page, Shell(page, folder / "scratch", folder / "shell"), options)
    for step in page.steps():
        if page.sides(step):
            print("\n".join(page.numbers(step)), end="\n\n")
    print("\n".join(page.times(machine())), flush=True)
    if options.write:
        page.path.write_text(page.filled(machine()), encoding="utf-8")
        Page(page.path)  # it can be run again
    return 0


def story(page, options):
    if INSIDE in os.environ:
        return run_here(page, options, pathlib.Path.home() / "story")
    if uses(page, "dist/debian/"):
        built("debian/hocket_*.deb", "package")
    folder = WORK / page.title
    shutil.rmtree(folder, ignore_errors=True)
    try:
        return (run_in_overlay if uses(page, "sudo ") else run_here)(page, options, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    names = sorted(path.stem for path in PAGES.glob("*.md") if path.stem != "README")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     prog="./dev stories")
    parser.add_argument("names", nargs="*", help=f"all, or of: {' '.join(names)}")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        print("\n".join(names))
        return 0
    for name in options.names:
        if name not in (*names, "all"):
            parser.error(f"there is no story '{name}': {' '.join(names)}")
    if not options.names:
        parser.error(f"which story? all, or of: {' '.join(names)}")
    if options.rounds < 1 or options.limit <= 0:
        parser.error("--rounds wants 1 or more, --limit more than 0")
    chosen = names if "all" in options.names else options.names
    statuses = [story(Page(PAGES / f"{name}.md"), options) for name in chosen]
    return next((status for status in statuses if status not in (0, SKIPPED)), max(statuses))


sys.exit(main())
