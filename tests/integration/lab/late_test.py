# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that don't come to a collective on the nodes of a lab: who they are is said by their own node where a rank
waits there, and by another one where the whole node is silent. HOCKET_LATE_ACTION=abort ends the jobs."""

import os
import random
import re
import sys
import unittest

from lab_command import COMMAND, LONG_TESTS, has_its_turn, main_as_root
from mpi_lab import MpiLab

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../late"))
from late import KINDS, named  # noqa: E402


class LateTest(MpiLab):
    SOURCE = "../late/late_job.c"
    # Ranks that call something else are told of as that; the launcher of a lab is outside of it.
    KINDS_HERE = [kind for kind in KINDS if kind not in ("collective", "launcher")] + ["silent"]

    @classmethod
    def compiled(cls, mpi, source, *more):
        return super().compiled(mpi, os.path.realpath(source), "-DWITH_MPI", *more)

    def mpis(self, test):
        """Those that have their turn in a test, by its number."""
        return [mpi for place, mpi in enumerate(self.programs) if has_its_turn(test, place)]

    def said(self, mpi, *words, **settings):
        """The lines about late ranks of a job that hangs after some calls."""
        program = (self.programs[mpi], "hang", *words, "7")
        # The launcher of Open MPI 5 hangs now and then when several of a job's processes end it.
        limit = ("timeout", "-k", "5", "30")
        result = self.lab("mpirun", "--mpi", self.launcher(mpi), "--with-hocket", *program, code=None,
                          HOCKET_LATE_S="2", HOCKET_LATE_ACTION="abort", before=limit, **settings)
        self.assertNotEqual(result.returncode, 0, result.stdout)
        # Of calls that the MPI carries out the rank isn't told before; each rank that ends says so once more.
        lines = re.findall(r"error: (?:rank \d+ of \d+: )?(MPI_\S+ (?!on rank).*of .* has waited for .*)",
                           result.stdout + result.stderr)
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
                    self.assertRegex(line, r"rank 2 has waited .* for rank 3 \(process \d+ on host n1, which has "
                                           r"been in MPI_Recv from rank 0, tag 7 for ")

    def test_ranks_that_wait_for_nic_engines_tell_of_it(self):
        for mpi in self.mpis(2):
            with self.subTest(mpi=mpi):
                self.lab("down", "--all")
                self.lab("up", "3", "--ppn", "1", "--switch", "redirect")
                self.lab("exec", "each", "--", COMMAND, "nic", "up", "eth0")
                for line in self.said(mpi, "never", "1", "12", "0", HOCKET_NIC="on"):
                    self.assertRegex(line, r"^MPI_Barrier.* for rank 1 \(process \d+ on host n1, which has not "
                                           r"answered\)")

    @unittest.skipUnless(LONG_TESTS, "minutes")
    def test_every_kind_of_hang_is_told_of_rightly(self):
        seed = int(os.environ.get("TEST_SEED", random.randrange(1 << 30)))
        print(f"TEST_SEED={seed}")
        chance = random.Random(seed)
        for nodes, ppn, engines in ((2, 2, False), (3, 1, True), (3, 2, False)):
            for mpi in self.programs:
                self.lab("down", "--all")
                self.lab("up", str(nodes), "--ppn", str(ppn), "--switch", "redirect")
                if engines:
                    self.lab("exec", "each", "--", COMMAND, "nic", "up", "eth0")
                for kind in self.KINDS_HERE:
                    late = {chance.randrange(nodes * ppn)}
                    if kind == "silent":
                        late = set(range((nodes - 1) * ppn, nodes * ppn))
                    collective = str(chance.randrange(4))
                    with self.subTest(nodes=nodes, ppn=ppn, mpi=mpi, kind=kind, late=late, collective=collective):
                        lines = self.said(mpi, kind, str(min(late)), "12", collective,
                                          HOCKET_NIC="on" if engines else "off")
                        # Of ranks that wait for each other each may say it.
                        said = [named(line) for line in lines]
                        self.assertTrue(late in said if kind in ("communicator", "deadlock") else
                                        all(ranks and ranks <= late for ranks in said), lines)
                        # A rank of another node says no more than that.
                        does = KINDS.get(kind, "") + "|has not answered"
                        self.assertTrue(any(re.search(does, line) for line in lines), lines)


if __name__ == "__main__":
    main_as_root()
