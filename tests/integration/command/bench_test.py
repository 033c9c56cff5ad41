# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import tempfile

from hocket_command import CommandTest, main, run

QUICK = ["--time-budget", "0.001", "--iterations", "20"]
FIELDS = {"collective", "ranks", "nodes", "bytes", "variant", "timing", "median_us", "p10_us", "p90_us", "iterations"}


class Bench(CommandTest):
    def rows(self, *arguments, **settings):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "rows.json")
            self.expect(run("bench", *arguments, *QUICK, "--json", path, **settings), 0)
            with open(path, encoding="utf-8") as file:
                return json.load(file)

    def test_every_algorithm_gives_the_right_bytes(self):
        algorithms = json.loads(run("algorithms", "--json").stdout)
        rows = self.rows("all", "--ranks", "3", "--sizes", "8,1000,70000")
        seen = {(row["collective"], row["variant"]) for row in rows}
        for algorithm in algorithms:
            if algorithm["multicasts"] or algorithm["among_neighbours"]:
                continue  # of several nodes, or asked for by itself
            if not algorithm["takes_tree"]:
                self.assertIn((algorithm["collective"], algorithm["name"]), seen)
        vectors = ["gatherv", "scatterv", "allgatherv", "alltoallv", "reduce_scatter"]
        for collective in vectors + [algorithm["collective"] for algorithm in algorithms
                                     if not algorithm["among_neighbours"]]:
            self.assertIn((collective, "hocket"), seen)

    def test_collectives_have_mpis_names_as_well(self):
        rows = self.rows("bcast,MPI_Allreduce", "--ranks", "2", "--variants", "hocket", "--sizes", "8")
        self.assertEqual({row["collective"] for row in rows}, {"broadcast", "allreduce"})

    def test_blocks_of_an_alltoallv_may_differ(self):
        """What comes is checked, and so is that nothing else does."""
        for lengths in ("uneven", "sparse"):
            rows = self.rows("alltoallv", "--ranks", "7", "--variants", "all", "--sizes", "1,900", "--lengths", lengths)
            self.assertGreater(len(rows), 4)

    def test_every_algorithm_among_neighbours_gives_the_right_bytes(self):
        """Nobody's blocks are left alone, and those from one rank several times come in order."""
        names = ["neighbor_allgatherv", "neighbor_alltoallv", "neighbor_allgather", "neighbor_alltoall"]
        seen = set()
        for ranks, grid, periodic, stencil in ((6, "2x3", "yes", "faces"), (6, "3x2", "no,yes", "full"),
                                               (4, "1d", "no", "faces"), (8, "3d", "yes", "full")):
            rows = self.rows(",".join(names), "--ranks", str(ranks), "--sizes", "1,900,70000", "--timing", "isolated",
                             "--grid", grid, "--periodic", periodic, "--stencil", stencil)
            seen |= {(row["collective"], row["variant"]) for row in rows}
            self.assertEqual({(row["periodic"], row["stencil"]) for row in rows}, {(periodic, stencil)})
            self.assertEqual({row["grid"] for row in rows}, {{"1d": "4", "3d": "2x2x2"}.get(grid, grid)})
        for algorithm in json.loads(run("algorithms", "--json").stdout):
            if algorithm["among_neighbours"] and algorithm["name"] != "nodes":
                self.assertIn((algorithm["collective"], algorithm["name"]), seen)
        self.assertLessEqual({(name, "hocket") for name in names}, seen)

    def test_sizes_are_those_of_a_block(self):
        for row in self.rows("alltoall,gatherv,scan", "--ranks", "3", "--variants", "hocket", "--sizes", "800"):
            self.assertEqual(row["bytes"], 800)

    def test_rows_have_all_fields_and_both_timings(self):
        rows = self.rows("allreduce", "--ranks", "2", "--variants", "hocket", "--sizes", "64,1K..4K")
        self.assertEqual({row["timing"] for row in rows}, {"isolated", "back-to-back"})
        self.assertEqual(sorted({row["bytes"] for row in rows}), [64, 1024, 2048, 4096])
        for row in rows:
            self.assertLessEqual(FIELDS, set(row))
            self.assertLessEqual(row["p10_us"], row["median_us"])
            self.assertLessEqual(row["median_us"], row["p90_us"])
            self.assertGreater(row["iterations"], 0)

    def test_types_operations_and_shared_buffers(self):
        for element, operation in [("int32", "min"), ("int64", "max"), ("float", "sum")]:
            rows = self.rows("reduce,allreduce", "--ranks", "3", "--variants", "hocket", "--sizes", "808", "--type",
                             element, "--op", operation, "--memory", "shared")
            self.assertEqual(len(rows), 4)

    def test_variants_with_parameters(self):
        rows = self.rows("reduce", "--ranks", "4", "--sizes", "64K", "--variants", "tree:degree=2,segment=16K;pieces")
        self.assertEqual({row["variant"] for row in rows}, {"tree:degree=2,segment=16K", "pieces"})

    def test_ping_pong_is_the_yardstick(self):
        rows = self.rows("pingpong,barrier", "--ranks", "2", "--bind", "cores", "--variants", "hocket")
        self.assertEqual([row["collective"] for row in rows], ["pingpong", "barrier", "barrier"])

    def test_waiting_is_measured_in_cpu_time(self):
        rows = self.rows("wait", "--ranks", "2", "--late", "0.2")
        self.assertEqual(rows[0]["collective"], "wait")
        self.assertGreaterEqual(rows[0]["cpu_percent"], 0)

    def test_load_beside_it_ends_with_it(self):
        self.rows("barrier", "--ranks", "2", "--variants", "hocket", "--load", "1")
        left = [pid for pid in os.listdir("/proc") if pid.isdigit() and self.is_bench(pid)]
        self.assertEqual(left, [])

    @staticmethod
    def is_bench(pid):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                return b"\0--load\0" in file.read()
        except OSError:
            return False

    def test_variant_of_one_collective_is_not_here_for_another(self):
        result = self.expect(run("bench", "allreduce,barrier", "--ranks", "2", "--variants", "ring;hocket", "--sizes",
                                 "8", *QUICK), 0)
        self.assertIn("not here", result.stdout)
        self.assertIn("`ring`", result.stdout)

    def test_nothing_measured_is_a_failure(self):
        self.refused("bench", "allreduce", "--ranks", "2", "--sizes", "7", *QUICK, code=1,
                     words=["nothing was measured"])

    def test_bad_lines(self):
        self.refused("bench", words=["collectives"])
        self.refused("bench", "allreduce", words=["--ranks N", "mpiexec"])
        self.refused("bench", "neighbor_alltoall", "--ranks", "4", "--grid", "3x2", words=["6 points", "4 ranks"])
        self.refused("bench", "neighbor_alltoall", "--ranks", "4", "--grid", "4y", words=["--grid 4y", "4x2"])
        self.refused("bench", "neighbor_alltoall", "--ranks", "4", "--periodic", "maybe", words=["`maybe`", "yes"])
        self.refused("bench", "neighbor_altoall", "--ranks", "4", words=["did you mean `neighbor_alltoall`"])
        self.refused("bench", "gathr", "--ranks", "2", words=["`gathr`", "gather,"])
        self.refused("bench", "allreduce", "--ranks", "0", words=["ranks"])
        self.refused("bench", "allreduce", "--ranks", "2", "--sizes", "8,x", words=["`x`"])
        self.refused("bench", "allreduce", "--ranks", "2", "--sizes", "4K..1K", words=["4K..1K"])
        self.refused("bench", "allreduce", "--ranks", "2", "--sizes", "0", words=["1 byte"])
        self.refused("bench", "allreduce", "--ranks", "2", "--", "mpiexec", words=["not both"])
        self.refused("bench", "allreduce", "--ranks", "2", "--variants", "rign", words=["--variants", "`rign`"])
        self.refused("bench", "barrier", "--ranks", "2", *QUICK, "--json", "/nowhere/rows.json",
                     words=["--json", "/nowhere/rows.json"])


if __name__ == "__main__":
    main()
