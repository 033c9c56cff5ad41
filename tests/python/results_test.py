# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks and statistics as data: of the command and of an MPI job, and files that are none."""

import dataclasses
import json
import pathlib
import subprocess
import sys
import tempfile

from hocket_python import LIMIT_S, PythonTest, environment, here, main

here()
import hocket  # noqa: E402  pylint: disable=wrong-import-position

ROW = {"collective": "allreduce", "ranks": 2, "nodes": 1, "ranks_a_node": 2, "bytes": 8, "variant": "hocket",
       "timing": "isolated", "median_us": 1, "p10_us": 0.5, "p90_us": 2.5, "p99_us": 3.5, "max_us": 4.5,
       "iterations": 9}

PROGRAM = """
from mpi4py import MPI
import array
out, into = array.array('d', [1.0]), array.array('d', [0.0])
for _ in range(100):
    MPI.COMM_WORLD.Allreduce(out, into)
MPI.COMM_SELF.Barrier()
"""


class Bench(PythonTest):
    def test_what_the_command_measures(self):
        rows = hocket.bench(["allreduce", "barrier"], ranks=2, options=[
            "--sizes", "8,64", "--time-budget", "0.01", "--variants", "hocket;direct", "--iterations", "50"])
        self.assertEqual({(row.collective, row.bytes) for row in rows},
                         {("allreduce", 8), ("allreduce", 64), ("barrier", 0)})
        for row in rows:
            self.assertEqual((row.ranks, row.nodes, row.cpu_percent), (2, 1, None))
            self.assertIn(row.timing, ("isolated", "back-to-back"))
            self.assertLessEqual(row.p10_us, row.median_us)
            self.assertLessEqual(row.median_us, row.max_us)
            self.assertGreater(row.iterations, 0)

    def test_what_it_measures_among_neighbours(self):
        rows = hocket.bench("neighbor_alltoall", ranks=4, options=[
            "--grid", "2d", "--periodic", "yes,no", "--sizes", "8", "--time-budget", "0.01", "--variants", "hocket"])
        self.assertEqual({(row.grid, row.periodic, row.stencil) for row in rows}, {("2x2", "yes,no", "faces")})

    def test_what_it_refuses(self):
        with self.assertRaisesRegex(RuntimeError, "allredoos"):
            hocket.bench("allredoos", ranks=2)
        for arguments in ({}, {"ranks": 2, "launcher": ["mpiexec"]}):
            with self.assertRaises(ValueError):
                hocket.bench("barrier", **arguments)

    def test_files(self):
        row = hocket.BenchRow(**ROW)
        self.assertEqual(hocket.read_bench(json.dumps([ROW])), [row])
        self.assertEqual(hocket.read_bench(json.dumps([{**ROW, "later_us": 3}])), [row])
        self.assertEqual(hocket.read_bench(json.dumps([{**ROW, "cpu_percent": 2}])),
                         [dataclasses.replace(row, cpu_percent=2.0)])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "rows.json")
            path.write_text(json.dumps([ROW, ROW]), encoding="utf-8")
            self.assertEqual(hocket.read_bench(path), [row, row])
        for text, words in (("[{]", "not JSON"), ("[3]", "row 0"), (json.dumps([ROW, {}]), "row 1 has no `collective`"),
                            (json.dumps([{**ROW, "bytes": "8"}]), "`bytes` of row 0 is '8'"),
                            (json.dumps([{**ROW, "ranks": True}]), "`ranks`"),
                            (json.dumps([{**ROW, "max_us": None}]), "`max_us`")):
            with self.assertRaisesRegex(ValueError, words):
                hocket.read_bench(text)
        with self.assertRaises(FileNotFoundError):
            hocket.read_bench("/nowhere/rows.json")


class Statistics(PythonTest):
    def test_those_of_a_job(self):
        launcher = pathlib.Path(sys.executable).parent / "mpiexec"
        line = hocket.exec_args([launcher, "-n", "2", sys.executable, "-c", PROGRAM], mpi="mpich", stats=True)
        ended = subprocess.run(line, env=environment(), capture_output=True, text=True, timeout=LIMIT_S, check=True)
        [found] = hocket.read_statistics("before\n" + ended.stderr + "after\n")
        self.assertEqual(found.ranks, 2)
        self.assertEqual(found.calls["MPI_Allreduce"], hocket.CallCounts(200, 0, {}))
        self.assertEqual(found.calls["MPI_Barrier"].reasons, {"single rank": 2})
        self.assertEqual((found.carried_out, found.passed_through, found.within_reach), (202, 0, 202))
        self.assertGreaterEqual(found.seconds_in_all, found.seconds_in_calls)
        self.assertEqual(set(found.seconds), {"MPI_Allreduce", "MPI_Barrier"})

    def test_those_of_a_job_in_a_file(self):
        launcher = pathlib.Path(sys.executable).parent / "mpiexec"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "job.json")
            line = hocket.exec_args([launcher, "-n", "2", sys.executable, "-c", PROGRAM], mpi="mpich")
            ended = subprocess.run(line, env={**environment(), "HOCKET_STATS": str(path)}, capture_output=True,
                                   text=True, timeout=LIMIT_S, check=True)
            found = json.loads(path.read_text(encoding="utf-8"))
            self.assertEqual(list(path.parent.iterdir()), [path])
        self.assertNotIn("hocket:", ended.stderr)
        self.assertEqual((found["format"], found["ranks"]), (1, 2))
        self.assertEqual(found["calls"]["MPI_Allreduce"]["carried_out"], 200)
        self.assertEqual(found["calls"]["MPI_Barrier"]["outcomes"], {"single rank": 2})
        seconds = found["seconds"]
        self.assertGreater(seconds["collectives"], 0)
        self.assertAlmostEqual(seconds["waiting"] + seconds["moving"] + seconds["not_told_apart"],
                               seconds["collectives"], places=6)
        self.assertEqual(sum(site["calls"] for site in found["call_sites"]) + found["other_call_sites"]["calls"], 202)
        self.assertTrue(all(site["object"] for site in found["call_sites"]))

    def test_several_jobs_and_reasons(self):
        text = ("hocket: calls of 1 rank\n"
                "hocket:                             carried out passed through   why\n"
                "hocket: MPI_Bcast                            12              5   single rank 12, not yet set up 2, "
                "left to the MPI by choice 3\n"
                "hocket: all                                  12              5   \n"
                "hocket: 85.7 % carried out of 14 calls within its reach\n"
                "hocket: memory of windows: used in place 3 times, copied 4 times\n"
                "hocket: 36.3 % of the time in these calls, 0.013 s of 0.035 s a rank: MPI_Bcast 0.012 s, "
                "MPI_Barrier 0.001 s\n")
        first, second = hocket.read_statistics(text + text.replace("1 rank\n", "2 ranks together\n"))
        self.assertEqual((first.ranks, second.ranks), (1, 2))
        self.assertEqual(first.calls["MPI_Bcast"].reasons,
                         {"single rank": 12, "not yet set up": 2, "left to the MPI by choice": 3})
        self.assertEqual((first.within_reach, first.windows_in_place, first.windows_copied), (14, 3, 4))
        self.assertEqual((second.seconds_in_calls, second.seconds_in_all), (0.013, 0.035))
        self.assertEqual(second.seconds, {"MPI_Bcast": 0.012, "MPI_Barrier": 0.001})
        self.assertEqual(hocket.read_statistics("nothing of hocket's\n"), [])
        for wrong in (text.replace("MPI_Bcast  ", "MPI_Bcast x"), text.replace("copied 4", "copied many"),
                      text.replace("0.001 s", "0.001"),
                      text.replace("all         ", "all        1"),
                      text.replace("single rank 12", "single rank")):
            with self.assertRaisesRegex(ValueError, "read_statistics"):
                hocket.read_statistics(wrong)


if __name__ == "__main__":
    main()
