# SPDX-License-Identifier: BSD-3-Clause
"""What `hocket info --coverage` promises is what becomes of calls, and tells of all that a shim catches.

  coverage_test.py MPI LIBRARIES WORK COMMAND RANKS [NODES]

MPI, LIBRARIES, WORK and RANKS (1 or 2) as run.sh has them; COMMAND: the hocket command; NODES: as the variable of
run.sh.
"""
import json
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
COLLECTIVE = re.compile(r"MPI_I?(?:neighbor_)?(?:barrier|bcast|reduce|allreduce|gatherv?|scatterv?|allgatherv?"
                        r"|alltoall[vw]?|reduce_scatter(?:_block)?|scan|exscan|reduce_local)(?:_init)?", re.IGNORECASE)
ROW = re.compile(r"^hocket: (MPI_\w+) +(\d+) +(\d+) +(.*)$", re.MULTILINE)
SKIPPED = 77


def family_of(mpi):
    return mpi.removeprefix("debian-") if not mpi.endswith(("-abi", "impi")) else "abi"


class Coverage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.mpi, cls.libraries, work, command, ranks = ARGUMENTS[:5]
        cls.nodes = ARGUMENTS[5] if len(ARGUMENTS) > 5 else ""
        listed = subprocess.run([command, "info", "--coverage", "--json"], capture_output=True, text=True, check=True)
        cls.listed = json.loads(listed.stdout)
        environment = {**os.environ, "EXPECT": "^coverage: passed"}
        if cls.nodes:
            environment["NODES"] = cls.nodes
        made = subprocess.run(["bash", os.path.join(HERE, "run.sh"), cls.mpi, "coverage.c", ranks, cls.libraries,
                               work],
                              env=environment, capture_output=True, text=True, errors="replace", check=False)
        if made.returncode == SKIPPED:
            print(made.stdout)
            sys.exit(SKIPPED)
        if made.returncode != 0:
            raise RuntimeError(made.stdout + made.stderr)
        cls.called = set(re.findall(r"called (MPI_\w+)", made.stdout))
        cls.rows = {name: (int(carried_out), int(passed), why)
                    for name, carried_out, passed, why in ROW.findall(made.stdout)}

    def test_each_function_is_listed_once(self):
        names = [one["function"] for one in self.listed]
        self.assertEqual(sorted(names), sorted(set(names)))

    def test_what_a_shim_catches_is_listed(self):
        shim = os.path.join(self.libraries, f"libhocket-mpi-{family_of(self.mpi)}.so")
        symbols = subprocess.run(["nm", "-D", "--defined-only", shim], capture_output=True, text=True, check=True)
        caught = {name.removesuffix("_c") for name in re.findall(r" (MPI_\w+)$", symbols.stdout, re.MULTILINE)}
        caught = {name for name in caught if COLLECTIVE.fullmatch(name)}
        self.assertEqual(caught ^ {one["function"] for one in self.listed}, set(), "listed or caught, and not both")

    def test_the_program_calls_what_is_listed(self):
        listed = {one["function"] for one in self.listed}
        if not any(name.endswith("_init") for name in self.called):
            listed = {name for name in listed if not name.endswith("_init")}  # an MPI older than MPI 4
        self.assertEqual(self.called ^ listed, set(), "listed or called, and not both")

    def test_calls_go_where_the_list_says(self):
        column = "between_nodes" if self.nodes else "on_one_node"
        for one in self.listed:
            name, who = one["function"], one[column]
            if name not in self.called:
                continue
            with self.subTest(function=name, who=who):
                carried_out, passed, why = self.rows.get(name, (0, 0, "no row"))
                if who == "hocket":
                    # The table may know that the MPI is faster.
                    by_choice = re.fullmatch(r"left to the MPI by choice \d+", why) is not None
                    self.assertTrue(carried_out > 0 or by_choice, why)
                    self.assertTrue(passed == 0 or by_choice, why)
                else:  # NIC engines are not there
                    self.assertEqual(carried_out, 0)


if __name__ == "__main__":
    ARGUMENTS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
