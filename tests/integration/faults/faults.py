# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of jobs in which something goes wrong: real MPI programs under the preloaded interposer, and programs of
`hocket run`. Every job has a bound in time; it must end with right results or a sentence, crash nowhere, and leave
nothing behind. What befalls it is drawn from a seed, or tried in turn:

  faults.py seeded     kills, stops, early ends, refused system calls, lowered limits and calls that differ, drawn
  faults.py refusals   every system call that a job makes from set-up on, refused on one rank and on all
  faults.py limits     every limit of a process, lowered step by step

A job that ends otherwise is made again without hocket: what then ends alike is the MPI's affair, and counted as such.
Exit status: 0, 1 if any job ended as it must not, 2 for wrong arguments, 77 if what it needs is not installed."""

import argparse
import collections
import dataclasses
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from jobs import ALONE, ENDED, HERE, LAUNCHERS, OUTCOMES, RIGHT, TOLD, Bench, Job

# --- faults drawn from a seed -----------------------------------------------------------------------------------------

# System calls of set-up and of collectives that an MPI whose own set-up is done can mostly do without.
REFUSABLE = ("accept4", "bind", "clock_nanosleep", "connect", "fallocate", "fcntl", "fstat", "ftruncate",
             "get_mempolicy", "getcpu", "getrandom", "getsockopt", "ioctl", "listen", "madvise", "membarrier",
             "memfd_create", "mmap", "munmap", "openat", "pidfd_open", "ppoll", "prctl", "process_vm_readv", "recvmsg",
             "sched_getaffinity", "sched_setattr", "sched_yield", "sendmsg", "setsockopt", "shutdown", "socket",
             "statx", "sysinfo", "uname")
DIFFERENCES = ("collective", "root", "length", "operation")


def drawn(seed, launchers):
    """The job of a seed."""
    chance = random.Random(seed)
    launcher = launchers[seed % len(launchers)]
    ranks = chance.choice((2, 2, 3, 4, 4, 5, 7, 8, 11, 16))
    calls = chance.choice((20, 60, 150))
    victim = chance.randrange(ranks)
    everywhere = chance.choice((victim, -1))
    kind = chance.choice(("kill", "kill", "stop", "end", "refuse", "refuse", "limit", "limit", "differ", "differ"))
    call = chance.randrange(1, calls - 5)
    job = Job(launcher, ranks, seed, calls, kind=kind)
    if kind == "kill":
        # A kill of the last calls may come when the rank is through with them.
        return dataclasses.replace(job, faults=(f"kill={victim},{call},{chance.choice((0, 20, 200, 1000))}",),
                                   accepted=(ENDED, RIGHT))
    if kind == "stop":
        ms = chance.choice((5, 50, 400, 1500))
        return dataclasses.replace(job, faults=(f"stop={victim},{call},{chance.choice((0, 20, 200))},{ms}",),
                                   accepted=(RIGHT,))
    if kind == "end":
        return dataclasses.replace(job, faults=(f"end={victim},{call}",), accepted=(ENDED,))
    if kind == "differ":
        return dataclasses.replace(job, faults=(f"differ={victim},{call},{chance.choice(DIFFERENCES)}",),
                                   accepted=(TOLD,))
    if kind == "refuse":
        error = chance.choice(("EPERM", "ENOSYS", "EACCES", "ENOMEM"))
        where = () if everywhere == -1 else (f"REFUSE_RANK={victim}",)
        at = ("REFUSE_AT=start",) if launcher == "run" else ()
        return dataclasses.replace(
            job, variables=(f"REFUSE={chance.choice(REFUSABLE)}", f"REFUSE_ERROR={error}", *where, *at))
    name, value = chance.choice((
        ("NOFILE", f"+{chance.randrange(8)}"), ("AS", f"+{chance.choice((0, 1, 64, 1024)) << 20}"),
        ("FSIZE", str(chance.choice((0, 1, 64)) << 20)), ("DATA", f"+{chance.choice((1, 64)) << 20}"),
        ("NPROC", "0"), ("lock", str(chance.choice((1, 256, 4096)) << 20))))
    fault = f"lock={everywhere},{value}" if name == "lock" else f"limit={everywhere},{name},{value}"
    return dataclasses.replace(job, faults=(fault,))


# --- one after the other ----------------------------------------------------------------------------------------------

def system_calls(bench, launcher, ranks):
    """(name, number) of what ranks call from the first line of set-up on, all of them."""
    prefix = shutil.which("strace")
    if prefix is None:
        print("skipped: strace is not installed: ./dev setup installs it")
        sys.exit(77)
    traces = tempfile.mkdtemp(prefix="t", dir=bench.work)
    job = Job(launcher, ranks, 1, 40, faults=("stop=0,0,0,1",))
    line = bench.line(job, preloaded=True, prefix=(prefix, "-f", "-n", "-ff", "-o", os.path.join(traces, "rank")))
    subprocess.run(line, env=bench.environment("trace", traces), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=300, check=False)
    found = {}
    for name in os.listdir(traces):
        if not name.startswith("rank."):
            continue
        with open(os.path.join(traces, name), encoding="utf-8", errors="replace") as file:
            for entry in file:
                match = re.match(r"\[ *(\d+)\] (\w+)\(", entry)
                if match:
                    found[match.group(2)] = int(match.group(1))
    shutil.rmtree(traces, ignore_errors=True)
    # No process can do without these, as the C library ends or is lost then, nor say anything without the last.
    for name in ("exit_group", "exit", "execve", "rt_sigreturn", "brk", "futex", "write", "writev"):
        found.pop(name, None)
    return sorted(found.items())


def refusals(bench, launchers):
    for launcher in launchers:
        for name, number in system_calls(bench, launcher, 3):
            for error in ("EPERM", "ENOSYS"):
                for where in ((), ("REFUSE_RANK=1",)):
                    at = ("REFUSE_AT=start",) if launcher == "run" else ()
                    yield Job(launcher, 3, 1, 40, kind=name,
                              variables=(f"REFUSE={number}", f"REFUSE_ERROR={error}", *where, *at))


def limits(_, launchers):
    for launcher in launchers:
        for rank in (-1, 1):
            for name, values in (("NOFILE", [f"+{count}" for count in (64, 32, 16, 8, 6, 5, 4, 3, 2, 1, 0)]),
                                 ("AS", [f"+{mib << 20}" for mib in (16384, 4096, 1024, 256, 64, 16, 4, 1, 0)]),
                                 ("DATA", [f"+{mib << 20}" for mib in (1024, 64, 16, 4, 1, 0)]),
                                 ("STACK", [f"+{kib << 10}" for kib in (1024, 64, 0)]),
                                 ("FSIZE", [str(mib << 20) for mib in (1024, 64, 16, 1, 0)]),
                                 ("NPROC", ["1", "0"]), ("CORE", ["0"]), ("SIGPENDING", ["0"]), ("MSGQUEUE", ["0"]),
                                 ("NICE", ["0"]), ("RTPRIO", ["0"])):
                for value in values:
                    yield Job(launcher, 4, 1, 40, faults=(f"limit={rank},{name},{value}",), kind=name)
            for mib in (16384, 4096, 1024, 256, 64):
                yield Job(launcher, 4, 1, 40, faults=(f"lock={rank},{mib << 20}",), kind="MEMLOCK")


# --- the table --------------------------------------------------------------------------------------------------------

def table(rows, counts):
    columns = [outcome for outcome in OUTCOMES if any(counts[row][outcome] for row in rows)]
    wide = max([len(row) for row in rows] + [4])
    lines = [f"| {'fault':<{wide}} | jobs | " + " | ".join(columns) + " |",
             f"|{'-' * (wide + 2)}|-----:|" + "|".join("-" * (len(column) + 1) + ":" for column in columns) + "|"]
    for row in [*rows, "all"]:
        cells = counts[row] if row != "all" else sum(counts.values(), collections.Counter())
        lines.append(f"| {row:<{wide}} | {sum(cells.values()):>4} | " +
                     " | ".join(f"{cells[column] or '':>{len(column)}}" for column in columns) + " |")
    return "\n".join(lines)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("seeded", "refusals", "limits"))
    parser.add_argument("--libraries", default=os.path.join(HERE, "../../../build/release/lib"),
                        help="where hocket's are (default: build/release/lib)")
    parser.add_argument("--venv", default=os.path.join(HERE, "../../../.venv"),
                        help="where the MPIs are (default: .venv)")
    parser.add_argument("--work", default=None, help="a folder for programs and logs (default: a new one)")
    parser.add_argument("--launchers", default=",".join(LAUNCHERS), help="a list (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=1000,
                        help="of faults that are drawn (default %(default)s: half an hour on two cores)")
    parser.add_argument("--seed", type=int, default=1, help="of the first job; the next has the next (default 1)")
    parser.add_argument("--only", default=None, metavar="WORD", help="jobs whose line holds it")
    parser.add_argument("--bound-s", type=float, default=60, help="seconds that a job may take (default %(default)s)")
    parser.add_argument("--json", default=None, metavar="FILE", help="write each job's line, outcome and seconds there")
    parser.add_argument("--verbose", action="store_true", help="print each job's line, and what it has printed")
    options = parser.parse_args(arguments)
    options.launchers = options.launchers.split(",")
    for name in options.launchers:
        if name not in LAUNCHERS:
            parser.error(f"there is no launcher '{name}': {' '.join(LAUNCHERS)}")
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs}: at least one")
    return options


def jobs_of(options, bench, launchers):
    if options.what == "seeded":
        return [drawn(seed, launchers) for seed in range(options.seed, options.seed + options.jobs)]
    return list((refusals if options.what == "refusals" else limits)(bench, launchers))


def take_a_shared_memory_of_ones_own():
    """Where this may be done, jobs have a /dev/shm that no other job sees: what they leave there is removed."""
    mark = "HOCKET_FAULTS_HAVE_THEIR_OWN_SHM"
    if os.environ.pop(mark, None) is not None or shutil.which("unshare") is None:
        return
    mount = ["unshare", "-m", "--propagation", "private", "sh", "-c",
             'mount -t tmpfs -o mode=1777 tmpfs /dev/shm && exec "$@"', "sh"]
    if subprocess.run([*mount, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        os.execvpe(mount[0], [*mount, sys.executable, "-B", *sys.argv], {**os.environ, mark: "1"})


def main():
    options = parse(sys.argv[1:])
    take_a_shared_memory_of_ones_own()
    work = options.work or tempfile.mkdtemp(prefix="hocket-faults-")
    bench = Bench(os.path.abspath(options.libraries), os.path.abspath(work), os.path.abspath(options.venv),
                  options.bound_s)
    launchers = [name for name in options.launchers if bench.installed(name)]
    for name in set(options.launchers) - set(launchers):
        print(f"{name} is not installed in {options.venv}: no jobs of it", flush=True)
    if not launchers:
        print("skipped: none of these launchers is installed: " + " ".join(options.launchers))
        return 77
    if not os.path.exists(os.path.join(bench.libraries, "libhocket.so")):
        print(f"faults.py: {bench.libraries} has no libhocket.so: ./dev build, or --libraries", file=sys.stderr)
        return 2
    jobs = [job for job in jobs_of(options, bench, launchers) if options.only is None or options.only in job.line()]
    if not jobs:
        print(f"faults.py: no job's line holds '{options.only}'", file=sys.stderr)
        return 2
    counts, bad, lines = collections.defaultdict(collections.Counter), [], []
    begin = time.monotonic()
    for index, job in enumerate(jobs):
        result = bench.make(job)
        row = job.kind if options.what == "refusals" else f"{job.kind}, {job.launcher}"
        counts[row][result.outcome] += 1
        lines.append({"job": job.line(), "outcome": result.outcome, "seconds": round(result.seconds, 2)})
        if result.outcome not in job.accepted and result.outcome != ALONE:
            bad.append(job)
            print(f"\n{result.outcome}: {job.line()}\n{result.output}", flush=True)
        elif options.verbose:
            print(f"{result.outcome}: {job.line()} ({result.seconds:.1f} s)\n{result.output}", flush=True)
        if (index + 1) % 50 == 0:
            left_s = (time.monotonic() - begin) / (index + 1) * (len(jobs) - index - 1)
            print(f"{index + 1} of {len(jobs)} jobs, {len(bad)} ended as they must not; "
                  f"about {left_s / 60:.0f} min left", flush=True)
    print(table(sorted(counts), counts))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(lines, file, indent=1)
    if options.work is None:
        shutil.rmtree(work, ignore_errors=True)
    for job in bad:
        print(f"ended as it must not: {job.line()}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
