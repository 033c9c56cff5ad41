# SPDX-License-Identifier: BSD-3-Clause
"""Jobs for faults.py: how one is made, how it may end, and what it must not leave behind."""

import dataclasses
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
MARK = "FAULTS_TEST_MARK"
MPIS = ("mpich", "openmpi", "mpich-abi")
LAUNCHERS = (*MPIS, "run")
MPI_RESOURCES = ("vader_segment.", "sm_segment.", "mpich_sh", "psm2_shm", "ucx_shm", "prte", "pmix", "ompi.")

# How a job may end.
RIGHT, BY_MPI, TOLD, ENDED, ALONE = "right", "right, by the MPI", "told", "ended with the rank", "as the MPI alone"
# And how not.
HANG, CRASH, WRONG, SILENT, LEFT = "HANG", "CRASH", "WRONG DATA", "NO SENTENCE", "LEFT BEHIND"
GOOD = (RIGHT, BY_MPI, TOLD, ENDED, ALONE)
OUTCOMES = (*GOOD, HANG, CRASH, WRONG, SILENT, LEFT)

CRASHES = re.compile(r"signal:? (4|6|7|8|11|25|31)\b|SIG(XFSZ|SYS|SEGV|BUS|ILL|FPE|ABRT)|File size limit|"
                     r"Segmentation fault|Bus error|exit code:? (139|135|132|134)|Aborted|AddressSanitizer",
                     re.IGNORECASE)


@dataclasses.dataclass
class Job:
    launcher: str
    ranks: int
    seed: int
    calls: int
    faults: tuple = ()  # of workload.c
    variables: tuple = ()  # NAME=VALUE, of the ranks
    kind: str = ""  # its row of the table
    # What may come of it; the MPI's own work or an error told are always less than a right result.
    accepted: tuple = (RIGHT, BY_MPI, TOLD)

    def with_less_memory(self):
        """Where memory is limited, the same jobs while some of it is used, as by another library than hocket."""
        limited = [re.match(r"limit=(-?\d+),(AS|DATA),", fault) for fault in self.faults]
        return [dataclasses.replace(self, faults=(*self.faults, f"heap={match.group(1)},{kib}"))
                for match in limited if match for kib in (64, 128, 256, 1024)]

    def line(self):
        return " ".join((f"{self.launcher} -n {self.ranks}", *self.variables, f"workload {self.seed} {self.calls}",
                         *self.faults))


@dataclasses.dataclass
class Result:
    outcome: str
    seconds: float
    output: str


class Bench:
    """Where jobs are made: programs built for each launcher, and the libraries."""

    def __init__(self, libraries, work, venv, bound_s):
        self.libraries, self.work, self.venv, self.bound_s = map(str, (libraries, work, venv, bound_s))
        self.bound_s = float(bound_s)
        self.command = os.path.join(self.libraries, "..", "bin", "hocket")
        os.makedirs(self.work, exist_ok=True)
        self.refuse = self.build("refuse.so", ["cc", "-shared", "-fPIC"], os.path.join(HERE, "../mpi/refuse.c"))

    def build(self, name, compiler, source, *last):
        path = os.path.join(self.work, name)
        folder = os.path.dirname(source)
        sources = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith((".c", ".h"))]
        newest = max(os.path.getmtime(name) for name in sources)
        if not os.path.exists(path) or os.path.getmtime(path) < newest:
            own = f"{path}.{os.getpid()}"
            subprocess.run([*compiler, "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", source, "-o", own, *last],
                           check=True)
            os.replace(own, path)
        return path

    def launcher(self, name):
        return os.path.join(self.venv, name, "bin", "mpiexec")

    def installed(self, name):
        if name == "run":
            return os.path.exists(self.command)
        return os.path.exists(self.launcher(name))

    def program(self, launcher):
        source = os.path.join(HERE, "workload.c")
        if launcher == "run":
            include = os.path.join(HERE, "../../../include")
            return self.build("workload-run", ["cc", f"-I{include}"], source, f"-L{self.libraries}", "-lhocket",
                              f"-Wl,-rpath,{os.path.realpath(self.libraries)}")
        compiler = os.path.join(self.venv, launcher, "bin", "mpicc_abi" if launcher == "mpich-abi" else "mpicc")
        return self.build(f"workload-{launcher}", [compiler, "-DWITH_MPI"], source)

    def line(self, job, preloaded, prefix=()):
        """The command of a job."""
        program = [*prefix, self.program(job.launcher), str(job.seed), str(job.calls), *job.faults]
        refused = [self.refuse] if any(word.startswith("REFUSE=") for word in job.variables) else []
        if job.launcher == "run":
            preload = [f"LD_PRELOAD={':'.join(refused)}"] if refused else []
            return [self.command, "run", "-n", str(job.ranks), "env", *preload, *job.variables, *program]
        family = {"mpich": "mpich", "openmpi": "openmpi", "mpich-abi": "abi"}[job.launcher]
        hocket = [os.path.join(self.libraries, f"libhocket-mpi-{family}.so")] if preloaded else []
        launch = [self.launcher(job.launcher), "-n", str(job.ranks)]
        if family == "openmpi":
            launch[1:1] = ["--oversubscribe", "--bind-to", "none"]
        return [*launch, "env", f"LD_PRELOAD={':'.join(hocket + refused)}", "HOCKET_STATS=1", *job.variables, *program]

    def environment(self, mark, temporary):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("HOCKET_")}
        clean.update({MARK: mark, "TMPDIR": temporary, "OMPI_ALLOW_RUN_AS_ROOT": "1",
                      "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
                      "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
                      "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1"})
        return clean

    def make(self, job):
        result = self.attempt(job, preloaded=True)
        if result.outcome in job.accepted or result.outcome in (LEFT, WRONG) or job.launcher == "run":
            return result
        others = [job] * 5  # some fail by chance
        if result.outcome != HANG:
            others += job.with_less_memory()
        for other in others:
            alone = self.attempt(other, preloaded=False)
            if alone.outcome not in (RIGHT, BY_MPI):
                without = f"--- without hocket: {alone.outcome}\n{alone.output}"
                return Result(ALONE, result.seconds, f"{result.output}\n{without}")
        return result

    def attempt(self, job, preloaded):
        mark = uuid.uuid4().hex
        temporary = tempfile.mkdtemp(prefix="f", dir=self.work)
        before = set(os.listdir("/dev/shm"))
        begin = time.monotonic()
        # Not to a file, which has limits of its own.
        process = subprocess.Popen(self.line(job, preloaded), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, env=self.environment(mark, temporary),
                                   start_new_session=True)
        pieces = []
        reader = threading.Thread(target=lambda: pieces.extend(process.stdout))
        reader.start()
        try:
            status = process.wait(self.bound_s)
        except subprocess.TimeoutExpired:
            status = None
        seconds = time.monotonic() - begin
        left = end_what_is_left(mark) if status is not None else []
        if status is None:
            os.killpg(process.pid, signal.SIGKILL)
            end_what_is_left(mark, limit_s=0)
            process.wait()
        reader.join()
        process.stdout.close()
        text = b"".join(pieces).decode(errors="replace")
        files = [name for name in set(os.listdir("/dev/shm")) - before if "hocket" in name]
        files += [name for _, folders, names in os.walk(temporary) for name in folders + names if "hocket" in name]
        remove_resources(before)
        shutil.rmtree(temporary, ignore_errors=True)
        if preloaded and (left or files):
            return Result(LEFT, seconds, f"{text}\n--- left behind: processes {left}, files {files}")
        return Result(self.judge(job, status, text, preloaded), seconds, text)

    def judge(self, job, status, text, preloaded):
        if status is None:
            return HANG
        if "WRONG" in text:
            return WRONG
        if status == 0 and "workload: right" in text:
            share = re.search(r"^hocket: ([0-9.]+) % carried out", text, re.MULTILINE)
            by_hocket = job.launcher == "run" or (share is not None and float(share.group(1)) > 50)
            if preloaded and not by_hocket and not has_sentence(text):
                return SILENT
            return RIGHT if by_hocket else BY_MPI
        if not preloaded:
            return SILENT  # what an MPI says of itself is not looked at
        if CRASHES.search(text):
            return CRASH
        if ENDED in job.accepted:  # the rank is gone, and the launcher or its peers say so
            return ENDED
        if job.kind == "differ":  # of that all ranks hear
            told = set(re.findall(r"workload: rank (\d+) was told", text))
            return TOLD if len(told) == job.ranks else SILENT
        # Where little memory is left the MPI may be the one that finds none.
        return TOLD if has_sentence(text) or "ut of memory" in text else SILENT


def has_sentence(text):
    """Whether hocket has said anything but its statistics."""
    lines = re.findall(r"^hocket: .*|.*hocket\[.*|.*\bhocket_\w+: .*", text, re.MULTILINE)
    statistics = re.compile(r"hocket: ([0-9.]+ %|all |MPI_\w+ +\d|calls |collective )")
    return any(not statistics.match(line) for line in lines)


def end_what_is_left(mark, limit_s=5.0):
    """The processes of a job that are there a while after its end; they are killed."""
    limit = time.monotonic() + limit_s
    while True:
        found = processes_with(mark)
        if not found or time.monotonic() > limit:
            break
        time.sleep(0.02)
    for pid, _ in found:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return found


def processes_with(mark):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if f"{MARK}={mark}".encode() not in file.read():
                    continue
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                name, _, rest = file.read().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if rest.split()[0] not in "ZX":
            found.append((int(pid), name))
    return found


def mapped_files():
    """Of /dev/shm, the names that some process has mapped."""
    names = set()
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/maps", encoding="utf-8", errors="replace") as file:
                names.update(re.findall(r"/dev/shm/(\S+)", file.read()))
        except OSError:
            pass  # it has ended
    return names


def remove_resources(before):
    """What MPIs leave in shared memory when a rank is killed; not what another job has there."""
    left = [name for name in set(os.listdir("/dev/shm")) - before if name.startswith(MPI_RESOURCES)]
    mapped = mapped_files() if left else set()
    for name in left:
        if name not in mapped:
            try:
                os.unlink(os.path.join("/dev/shm", name))
            except OSError:
                pass
