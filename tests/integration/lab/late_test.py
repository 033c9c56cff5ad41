# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that don't come to a collective on the nodes of a lab: who they are is said by their own node where a rank
waits there, and by another one where the whole node is silent. HOCKET_LATE_ACTION=abort ends the jobs."""

import os
import re

from lab_command import COMMAND, has_its_turn, main_as_root
from mpi_lab import MpiLab


class LateTest(MpiLab):
    SOURCE = "../late/late_job.c"

    @classmethod
    def compiled(cls, mpi, source, *more):
        return super().compiled(mpi, os.path.realpath(source), "-DWITH_MPI", *more)

    def mpis(self, test):
        """Those that have their turn in a test, by its number."""
        return [mpi for place, mpi in enumerate(self.programs) if has_its_turn(test, place)]

    def said(self, mpi, *words, **settings):
        """The lines about late ranks of a job that hangs after some calls."""
        program = (self.programs[mpi], "hang", *words, "7")
        result = self.lab("mpirun", "--mpi", self.launcher(mpi), "--with-hocket", *program, code=None,
                          HOCKET_LATE_S="2", HOCKET_LATE_ACTION="abort", **settings)
        self.assertNotEqual(result.returncode, 0, result.stdout)
        lines = re.findall(r"error: rank \d+ of \d+: (.* has waited for .*)", result.stdout + result.stderr)
        self.assertTrue(lines, result.stdout + result.stderr)
        return lines

    def test_a_silent_node_is_told_of_by_another(self):
        for mpi in self.mpis(0):
            with self.subTest(mpi=mpi):
                self.lab("down", "--all")
                self.lab("up", "2", "--ppn", "2")
                for line in self.said(mpi, "silent", "2", "12", "1"):
                    self.assertRegex(line, r'^MPI_Allreduce.* of communicator "first" of 4 ranks: rank 0 has waited for'
                                           r" 2 s.* for rank 2 \(process \d+ on host n1, which has not answered\)")

    def test_a_node_tells_of_its_own_ranks_what_they_do(self):
        for mpi in self.mpis(1):
            with self.subTest(mpi=mpi):
                self.lab("down", "--all")
                self.lab("up", "2", "--ppn", "2")
                for line in self.said(mpi, "receive", "3", "12", "0"):
                    self.assertRegex(line, r"rank 2 has waited .* for rank 3 \(process \d+, which has been in "
                                           r"MPI_Recv from rank 0, tag 7 for ")

    def test_ranks_that_wait_for_nic_engines_tell_of_it(self):
        for mpi in self.mpis(2):
            with self.subTest(mpi=mpi):
                self.lab("down", "--all")
                self.lab("up", "3", "--ppn", "1", "--switch", "redirect")
                self.lab("exec", "each", "--", COMMAND, "nic", "up", "eth0")
                for line in self.said(mpi, "never", "1", "12", "0", HOCKET_NIC="on"):
                    self.assertRegex(line, r"^MPI_Barrier.* for rank 1 \(process \d+ on host n1, which has not "
                                           r"answered\)")


if __name__ == "__main__":
    main_as_root()
