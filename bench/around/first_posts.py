#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What first_posts.c tells, in a lab with NIC engines that is made for it.

    sudo bench/around/first_posts.py [NODES]
"""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HOCKET = ROOT / "build/release/bin/hocket"
MPICH = ROOT / ".venv/mpich/bin"
LAB = "first-posts"


def run(*words):
    subprocess.run([str(word) for word in words], check=True)


def main():
    nodes = sys.argv[1] if len(sys.argv) > 1 else "2"
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "first_posts"
        run(MPICH / "mpicc", "-O1", HERE / "first_posts.c", "-o", program)
        run(HOCKET, "lab", "up", nodes, "--name", LAB, "--switch", "redirect")
        try:
            run(HOCKET, "lab", "exec", "--name", LAB, "each", "--", HOCKET, "nic", "up", "eth0")
            run(HOCKET, "lab", "mpirun", "--name", LAB, "--mpi", MPICH / "mpiexec", "--with-hocket", program)
        finally:
            run(HOCKET, "lab", "down", LAB)


if __name__ == "__main__":
    main()
