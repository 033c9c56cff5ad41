# SPDX-License-Identifier: BSD-3-Clause
"""Whether the right ranks are named where some don't come to a collective, and no others: real MPI programs under the
preloaded interposer, and programs of `hocket run`.

  late.py hangs     jobs that hang for a reason that is drawn from a seed: the culprit has to be named in time
  late.py sound     jobs in which ranks come late, beside programs that take the cores: nobody else may be named

Every job is ended by this program, and must leave no process behind. Exit status: 0, 1 if a job's culprit was not
named or another rank was, 2 for wrong arguments, 77 if what it needs is not installed."""

import argparse
import collections
import dataclasses
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "faults"))
from jobs import Bench, end_what_is_left, processes_with  # noqa: E402

LAUNCHERS = ("mpich", "openmpi", "debian-mpich", "debian-openmpi", "mpich-abi", "run")
DEBIAN = {"debian-mpich": "mpich", "debian-openmpi": "openmpi"}
# Each kind with what the line has to say of the culprit.
KINDS = {
    "never": r"has made no ",
    "loop": r"has made no .*runs",
    "stopped": r"is stopped",
    "blocked": r"has made no .*sleeps in read",
    "receive": r"has been in MPI_Recv from rank \d+, tag 7",
    "communicator": r"has been in (MPI|hocket)_\w+ of .*communicator",
    "deadlock": r"has been in (MPI|hocket)_\w+ of .*communicator .*this (is|may be) a deadlock: rank",
    "collective": r"(calls|is in another call)",
    "launcher": r"",  # whose ranks end with it, or are to be seen from outside, as nobody reads what they print
}
OF_MPI_ONLY = ("receive",)
# Of a job without its launcher: its other ranks have ended with that.
NOBODY_WAITS = "nobody waits"


@dataclasses.dataclass
class Hang:
    seed: int
    launcher: str
    ranks: int
    kind: str
    culprit: int
    calls: int
    collective: int

    def arguments(self):
        return ["hang", self.kind, str(self.culprit), str(self.calls), str(self.collective), str(self.seed)]

    def line(self):
        return f"seed {self.seed}: {self.launcher} -n {self.ranks} late_job {' '.join(self.arguments())}"


def drawn(seed, launchers):
    chance = random.Random(seed)
    launcher = launchers[seed % len(launchers)]
    kinds = [kind for kind in KINDS if launcher != "run" or kind not in OF_MPI_ONLY]
    kind = kinds[(seed + seed // len(launchers)) % len(kinds)]
    ranks = chance.choice((2, 3, 4, 5))
    calls = chance.choice((0, 1, 12, 40))
    if kind == "collective":
        calls = max(calls, 12)  # before it is set up the MPI carries out what ranks call, whatever it is
    # A call that is started by the other ranks, and calls that differ, are told of in another way.
    collective = chance.randrange(4 if kind == "collective" else 5)
    return Hang(seed, launcher, ranks, kind, chance.randrange(ranks), calls, collective)


class LateBench(Bench):
    """Where late_job is built and run."""

    def installed(self, name):
        return os.path.exists(f"/usr/bin/mpiexec.{DEBIAN[name]}") if name in DEBIAN else super().installed(name)

    def program(self, launcher):
        source = os.path.join(HERE, "late_job.c")
        if launcher == "run":
            include = os.path.join(HERE, "../../../include")
            return self.build("late_job-run", ["cc", f"-I{include}"], source, f"-L{self.libraries}", "-lhocket",
                              f"-Wl,-rpath,{os.path.realpath(self.libraries)}")
        if launcher in DEBIAN:
            compiler = f"/usr/bin/mpicc.{DEBIAN[launcher]}"
        else:
            compiler = os.path.join(self.venv, launcher, "bin", "mpicc_abi" if launcher == "mpich-abi" else "mpicc")
        return self.build(f"late_job-{launcher}", [compiler, "-DWITH_MPI"], source)

    def command_of(self, launcher, ranks, arguments, variables):
        program = [self.program(launcher), *arguments]
        if launcher == "run":
            return [self.command, "run", "-n", str(ranks), "env", *variables, *program]
        family = "abi" if launcher == "mpich-abi" else "openmpi" if "openmpi" in launcher else "mpich"
        start = f"/usr/bin/mpiexec.{DEBIAN[launcher]}" if launcher in DEBIAN else self.launcher(launcher)
        launch = [start, "-n", str(ranks)]
        if family == "openmpi":
            launch[1:1] = ["--oversubscribe", "--bind-to", "none"]
        preload = os.path.join(self.libraries, f"libhocket-mpi-{family}.so")
        return [*launch, "env", f"LD_PRELOAD={preload}", *variables, *program]

    def start(self, launcher, ranks, arguments, variables):
        mark = uuid.uuid4().hex
        process = subprocess.Popen(self.command_of(launcher, ranks, arguments, variables), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, text=True,
                                   errors="replace", env=self.environment(mark, self.work))
        return mark, process


class Reader:
    """The lines of a job, each with its time."""

    def __init__(self, stream):
        self.lines = []
        self.thread = threading.Thread(target=self.read, args=(stream,), daemon=True)
        self.thread.start()

    def read(self, stream):
        for line in stream:
            self.lines.append((time.monotonic(), line.rstrip("\n")))

    def text(self):
        return "\n".join(line for _, line in self.lines)


def end(mark, process, reader):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    end_what_is_left(mark, limit_s=0)
    process.wait()
    reader.thread.join(5)


def named(line):
    """The ranks that a line about late ranks names, as their communicator numbers them."""
    late = re.search(r"has waited for \d+ s(?:, and goes on waiting,)? for (.*?)"
                     r"(?:; this (?:is|may be) a deadlock|; where|$)", line)
    if late is None:
        return set()
    text = re.sub(r"\([^)]*\)", "", late.group(1))  # what they do has ranks of its own
    return {int(rank) for rank in re.findall(r"rank (\d+)", text)}


def tells(job, line):
    if job.kind == "collective":
        return bool(re.search(KINDS[job.kind], line)) and f"rank {job.culprit} " in line
    if job.kind in ("communicator", "deadlock") and f"rank {job.culprit} has waited" in line:
        return False  # the culprit waits, too, and may say so
    return named(line) == {job.culprit} and re.search(KINDS[job.kind], line) is not None


def is_seen(bench, mark, job):
    """Whether `hocket where` names the culprit of a job whose launcher has gone."""
    for process, _ in processes_with(mark):
        seen = subprocess.run([bench.command, "where", "--json", str(process)], capture_output=True, text=True,
                              check=False)
        if seen.returncode == 2:
            continue
        for found in json.loads(seen.stdout)["jobs"]:
            late = [rank["rank"] for rank in found["here"] if rank["standing"] == "late"]
            if late == [job.culprit]:
                return True
    return False


def hang_without_launcher(bench, job, late_s, slack_s):
    """As hang(), of one whose culprit kills what has started it."""
    mark, process = bench.start(job.launcher, job.ranks, job.arguments(), [f"HOCKET_LATE_S={late_s}"])
    reader = Reader(process.stdout)
    try:
        limit = time.monotonic() + 30
        while time.monotonic() < limit and not re.search("is the culprit", reader.text()) and process.poll() is None:
            time.sleep(0.05)
        limit = time.monotonic() + late_s + slack_s + 3  # others have still to come to the call
        while time.monotonic() < limit:
            if is_seen(bench, mark, job):
                return None
            time.sleep(0.2)
        # Ranks of some MPIs end when their launcher does, but for the culprit, who hears of nothing: nobody waits.
        if len([name for _, name in processes_with(mark) if name.startswith("late_job")]) < 2:
            return NOBODY_WAITS
        return f"{job.line()}: hocket where does not name rank {job.culprit}\n{reader.text()}"
    finally:
        end(mark, process, reader)


def hang(bench, job, late_s, slack_s):
    """None, or what is wrong."""
    mark, process = bench.start(job.launcher, job.ranks, job.arguments(), [f"HOCKET_LATE_S={late_s}"])
    reader = Reader(process.stdout)
    limit = time.monotonic() + 30
    began = None
    try:
        while time.monotonic() < limit:
            time.sleep(0.05)
            waiting = [at for at, line in list(reader.lines) if re.search(r"rank \d+ (waits|is the culprit)$", line)]
            if began is None and len(waiting) == job.ranks:
                began = max(waiting)
                limit = began + late_s + slack_s
            if any(tells(job, line) for _, line in list(reader.lines)):
                return None
        wrong = "not all ranks came to the call" if began is None else f"nobody named rank {job.culprit} in time"
        return f"{job.line()}: {wrong}\n{reader.text()}"
    finally:
        end(mark, process, reader)


def sound(bench, seed, launcher, late_s, longest_ms, steps):
    """(lines, None or what is wrong)"""
    ranks = random.Random(seed).choice((2, 3, 4, 5))
    mark, process = bench.start(launcher, ranks, ["sound", str(seed), str(steps), str(longest_ms)],
                                [f"HOCKET_LATE_S={late_s}"])
    reader = Reader(process.stdout)
    try:
        status = process.wait(120)
    except subprocess.TimeoutExpired:
        status = None
    time.sleep(0.1)
    end(mark, process, reader)
    lines = list(reader.lines)
    said = [(at, line) for at, line in lines if "goes on waiting, for" in line]
    late = [(at, int(match.group(1)), int(match.group(2)) / 1000) for at, line in lines
            if (match := re.search(r"rank (\d+) is late by (\d+) ms", line))]
    for at, line in said:
        really = {rank for begin, rank, seconds in late if begin <= at <= begin + seconds + 0.5}
        if not named(line) <= really:
            return len(said), f"seed {seed} under {launcher}: late are {really}, but: {line}\n{reader.text()}"
    if status != 0:
        return len(said), f"seed {seed} under {launcher} ended with {status}\n{reader.text()}"
    return len(said), None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("hangs", "sound"))
    parser.add_argument("--libraries", required=True)
    parser.add_argument("--venv", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--jobs", type=int, default=60)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--late", type=int, default=2, help="HOCKET_LATE_S")
    parser.add_argument("--slack", type=float, default=1.0, help="seconds after which a line comes too late")
    parser.add_argument("--longest", type=int, default=2500, help="ms that a rank of a sound job may be late")
    parser.add_argument("--steps", type=int, default=40, help="calls of a sound job")
    parser.add_argument("--load", type=int, default=0, help="programs beside a sound job that take the cores")
    parser.add_argument("--mpi", action="append", help="one of the launchers; several times")
    arguments = parser.parse_args()
    bench = LateBench(arguments.libraries, arguments.work, arguments.venv, 60)
    launchers = [name for name in arguments.mpi or LAUNCHERS if bench.installed(name)]
    if not launchers:
        print("none of the launchers is installed: ./dev setup")
        return 77
    burners = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(arguments.load)]
    failed, counts = [], collections.Counter()
    try:
        for seed in range(arguments.first, arguments.first + arguments.jobs):
            if arguments.what == "hangs":
                job = drawn(seed, launchers)
                try_it = hang_without_launcher if job.kind == "launcher" else hang
                outcome, wrong = "named", try_it(bench, job, arguments.late, arguments.slack)
                if wrong is NOBODY_WAITS:
                    outcome, wrong = "ended", None
                counts[job.kind, outcome if wrong is None else "NOT NAMED"] += 1
            else:
                launcher = launchers[seed % len(launchers)]
                said, wrong = sound(bench, seed, launcher, arguments.late, arguments.longest, arguments.steps)
                counts[launcher, "lines"] += said
                counts[launcher, "sound" if wrong is None else "WRONG"] += 1
            if wrong is not None:
                failed.append(wrong)
                print(wrong, flush=True)
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    for (what, outcome), count in sorted(counts.items()):
        print(f"{what:16} {outcome:10} {count:5}")
    lines = sum(count for (_, outcome), count in counts.items() if outcome == "lines")
    if arguments.what == "sound" and lines == 0:
        print("no rank was ever called late: there was nothing to be right about")
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
