# SPDX-License-Identifier: BSD-3-Clause
"""Command lines and environments by which programs run under hocket: for launch scripts, Dask workers, wrappers of
Slurm."""

from __future__ import annotations

import os
import subprocess
from typing import Optional, Sequence, Union

from ._library import command

MPIS = ("auto", "mpich", "openmpi", "abi")

# A program and its arguments.
Words = Sequence[Union[str, "os.PathLike[str]"]]
# Whether, or in which file.
WhereTold = Union[bool, str, "os.PathLike[str]"]


def exec_args(line: Words, *, mpi: str = "auto", stats: WhereTold = False, check: bool = False,
              disable: bool = False, oversubscribe: bool = False) -> list[str]:
    """The command line that runs an MPI program with hocket in it (`hocket exec`).

    Args:
        line: The launcher and what follows: ["mpirun", "-n", "4", "./app"].
        mpi: The MPI that the program was built with: "mpich", "openmpi", "abi" (MPI's standard binary interface), or
            "auto".
        stats: At the end print what hocket carried out and what it passed through, and why (read_statistics()), and
            where the time went; or the path of a file that ends in .json, to which that is written.
        check: Compare what all ranks pass before every call (slow).
        disable: Pass every call through to the MPI, for comparison.
        oversubscribe: Let the launcher start more ranks than there are cores.

    Returns:
        Words for subprocess.run and its like.

    Raises:
        ValueError: `line` is empty, or `mpi` is none of these.
        TypeError: `line` is a string.
        FileNotFoundError: There is no hocket command.
    """
    if mpi not in MPIS:
        raise ValueError(f"exec_args: `mpi` is {mpi!r}; it is one of {', '.join(MPIS)}")
    file = os.fspath(stats) if isinstance(stats, (str, os.PathLike)) else None
    options = {"stats": bool(stats) and file is None, "check": check, "disable": disable,
               "oversubscribe": oversubscribe}
    chosen = [f"--{name}" for name, wanted in options.items() if wanted]
    if file is not None:
        chosen.insert(0, f"--stats={file}")
    if mpi != "auto":
        chosen += ["--mpi", mpi]
    return [command(), "exec", *chosen, "--", *_words("exec_args", line)]


def exec_environment(line: Words = (), *, mpi: str = "auto", stats: WhereTold = False, check: bool = False,
                     disable: bool = False, oversubscribe: bool = False) -> dict[str, str]:
    """What `hocket exec` would set in the environment, for a launcher that is started some other way.

    Args:
        line: The launcher and what follows, by which the MPI is found out; with another `mpi` than "auto" none is
            needed.
        mpi: As in exec_args(), as are the others.

    Returns:
        Variables and their values, to be set for the launcher: `{**os.environ, **hocket.exec_environment(...)}`.

    Raises:
        ValueError: `line` is empty though `mpi` is "auto", or `mpi` is unknown.
        RuntimeError: The MPI can't be found out, or a HOCKET_ variable is wrong; the message is the command's.
        FileNotFoundError: There is no hocket command.
    """
    if mpi == "auto" and not line:
        raise ValueError("exec_environment: `line` is empty; pass the launcher's command line, or `mpi`")
    words = exec_args(line or ["true"], mpi=mpi, stats=stats, check=check, disable=disable, oversubscribe=oversubscribe)
    words.insert(words.index("exec") + 1, "--dry-run")
    answer = subprocess.run(words, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise RuntimeError(answer.stderr.strip() or f"hocket exec --dry-run has ended with {answer.returncode}")
    variables = {}
    for printed in answer.stdout.splitlines():
        name, separator, value = printed.partition("=")
        if not separator or not name.isidentifier():
            raise RuntimeError(f"hocket exec --dry-run has printed {printed!r}; NAME=VALUE was expected")
        variables[name] = value
    return variables


def run_args(line: Words, ranks: int, *, label: bool = False, bind: Optional[str] = None,
             timeout_s: Optional[float] = None) -> list[str]:
    """The command line that runs a program on so many ranks of this machine, without an MPI (`hocket run`).

    Args:
        line: The program and its arguments: [sys.executable, "script.py"].
        ranks: How many.
        label: Put its rank in front of each line that a rank writes.
        bind: "cores": rank i on the i-th core that may be used.
        timeout_s: End all ranks after so many seconds.

    Returns:
        Words for subprocess.run and its like.

    Raises:
        ValueError: `line` is empty, or `ranks` is less than 1.
        TypeError: `line` is a string.
        FileNotFoundError: There is no hocket command.
    """
    if ranks < 1:
        raise ValueError(f"run_args: `ranks` is {ranks}; at least 1 is needed")
    words = [command(), "run", "-n", str(ranks)]
    if label:
        words.append("--label")
    if bind is not None:
        words += ["--bind", bind]
    if timeout_s is not None:
        words += ["--timeout", str(timeout_s)]
    return [*words, "--", *_words("run_args", line)]


def _words(call: str, line: Words) -> list[str]:
    if isinstance(line, (str, bytes)):
        raise TypeError(f"{call}: `line` is a string; pass a list of words, as shlex.split makes")
    words = [os.fspath(word) for word in line]
    if not words:
        raise ValueError(f"{call}: `line` is empty; pass a program and its arguments")
    return words
