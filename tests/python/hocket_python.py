# SPDX-License-Identifier: BSD-3-Clause
"""Runs Python programs with the checkout's package and the build's library. Each test file is called with the hocket
command's path."""

import os
import pathlib
import subprocess
import sys
import unittest

COMMAND = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = COMMAND.parent.parent / "lib" / "libhocket.so.0"
# Generous: the machine may be busy. Ends what hangs; no test depends on how long anything takes.
LIMIT_S = 120


def environment(**settings):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HOCKET_")}
    clean.pop("LD_PRELOAD", None)
    clean.update({"PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1", "HOCKET_LIBRARY": str(LIBRARY),
                  "OPENBLAS_NUM_THREADS": "1", **settings})
    return {name: value for name, value in clean.items() if value is not None}


def here():
    """Makes this process itself one that finds the package and the library."""
    os.environ.update(environment())
    sys.path.insert(0, str(ROOT / "python"))


def run(*words, **settings):
    return subprocess.run(list(map(str, words)), env=environment(**settings), capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)


def on_ranks(ranks, *words, options=(), **settings):
    """What `hocket run` does with a Python program: a script of this folder, or "-c" and code."""
    return run(COMMAND, "run", "-n", ranks, "--timeout", LIMIT_S, *options, sys.executable, *words, **settings)


class PythonTest(unittest.TestCase):
    def expect(self, result, code=0):
        self.assertEqual(result.returncode, code, f"stdout:\n{result.stdout}\nstderr:\n{result.stderr}")
        return result


def main():
    sys.argv[1:] = sys.argv[2:]
    unittest.main()
