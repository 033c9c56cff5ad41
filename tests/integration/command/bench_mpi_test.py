# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import tempfile

from hocket_command import COMMAND, CommandTest, cluster_launchers, launchers, main, run, run_on_nodes

COLLECTIVES = ["barrier", "broadcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall",
               "reduce_scatter_block", "scan", "exscan", "gatherv", "scatterv", "allgatherv", "alltoallv",
               "reduce_scatter"]
QUICK = ["--time-budget", "0.001", "--iterations", "20"]


class BenchUnderMpi(CommandTest):
    def check_rows(self, path, collectives):
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)
        for collective in collectives:
            variants = {row["variant"] for row in rows if row["collective"] == collective}
            self.assertEqual(variants, {"mpi", "hocket"})
        self.assertEqual({row["ranks"] for row in rows}, {2})
        self.assertEqual({row["nodes"] for row in rows}, {1})

    def test_hocket_starts_the_launcher(self):
        for family, launcher in launchers():
            with self.subTest(family), tempfile.TemporaryDirectory() as directory:
                path = os.path.join(directory, "rows.json")
                result = run("bench", "all", "--sizes", "8,20000", *QUICK, "--json", path, "--", launcher, "-n", "2")
                self.expect(result, 0)
                self.assertIn("mpi/hocket", result.stdout)
                self.assertNotIn("\033", result.stdout)
                self.check_rows(path, COLLECTIVES)

    def test_among_neighbours_of_a_grid_and_of_a_graph(self):
        names = ["neighbor_allgatherv", "neighbor_alltoallv", "neighbor_allgather", "neighbor_alltoall"]
        for family, launcher in launchers():
            for among in (["--periodic", "yes,no"], ["--stencil", "full"]):
                with self.subTest(family, among=among), tempfile.TemporaryDirectory() as directory:
                    path = os.path.join(directory, "rows.json")
                    self.expect(run("bench", ",".join(names), *among, "--sizes", "8,20000", *QUICK, "--json", path,
                                    "--", launcher, "-n", "2"), 0)
                    self.check_rows(path, names)

    def test_the_launcher_starts_hocket(self):
        for family, launcher in launchers():
            with self.subTest(family), tempfile.TemporaryDirectory() as directory:
                path = os.path.join(directory, "rows.json")
                self.expect(run("bench", "barrier", *QUICK, "--json", path, before=[launcher, "-n", "2"]), 0)
                self.check_rows(path, ["barrier"])

    def test_single_algorithms_run_beside_the_mpi_and_agree_with_it(self):
        for family, launcher in launchers():
            with self.subTest(family), tempfile.TemporaryDirectory() as directory:
                path = os.path.join(directory, "rows.json")
                result = run("bench", "alltoall", "--variants", "all", "--print", "mpi;linear", "--sizes", "8,20000",
                             *QUICK, "--json", path, "--", launcher, "-n", "2")
                self.expect(result, 0)
                self.assertNotIn("pairwise", result.stdout)
                with open(path, encoding="utf-8") as file:
                    variants = {row["variant"] for row in json.load(file)}
                self.assertLessEqual({"mpi", "hocket", "linear", "pairwise", "bruck"}, variants)

    def test_ranks_on_several_nodes(self):
        for family, launcher in cluster_launchers():
            with self.subTest(family), tempfile.TemporaryDirectory() as directory:
                path = os.path.join(directory, "rows.json")
                arguments = ["bench", "alltoall,allreduce", "--variants", "mpi;linear;pairwise;recursive_doubling",
                             "--sizes", "8,20000", *QUICK, "--json", path]
                self.expect(run_on_nodes(family, launcher, arguments), 0)
                with open(path, encoding="utf-8") as file:
                    rows = json.load(file)
                self.assertEqual({(row["ranks"], row["nodes"], row["ranks_a_node"]) for row in rows}, {(4, 2, 2)})
                for collective, variants in (("alltoall", {"mpi", "linear", "pairwise"}),
                                             ("allreduce", {"mpi", "linear", "recursive_doubling"})):
                    self.assertEqual({row["variant"] for row in rows if row["collective"] == collective}, variants)

    def test_variants_that_are_none(self):
        for family, launcher in launchers():
            with self.subTest(family):
                self.refused("bench", "alltoall", "--variants", "ring", "--", launcher, "-n", "2", words=["ring"])
                self.refused("bench", "alltoall", "--variants", "linear", "--memory", "shared", "--", launcher, "-n",
                             "2", words=["--memory shared"])

    def test_buffers_may_be_a_windows_memory(self):
        for family, launcher in launchers():
            for memory in "shared", "window", "shared-window":
                with self.subTest(family, memory=memory):
                    result = run("bench", "allreduce", "--sizes", "256K", "--time-budget", "60", "--iterations", "50",
                                 "--memory", memory, "--", launcher, "-n", "2", HOCKET_STATS="1")
                    self.expect(result, 0)
                    if memory != "shared":
                        self.assertRegex(result.stdout + result.stderr, "memory of windows: used in place [1-9]")
        self.refused("bench", "allreduce", "--memory", "window", "--ranks", "2", words=["--memory window", "launcher"])

    def test_calls_that_hocket_passes_through_are_not_reported_as_its_own(self):
        for family, launcher in launchers():
            with self.subTest(family):
                result = run("bench", "barrier", *QUICK, "--", launcher, "-n", "2", HOCKET_DISABLE="1")
                self.expect(result, 0)
                self.assertIn("passed the call through", result.stdout)

    def test_a_launcher_that_is_none(self):
        self.refused("bench", "barrier", "--", "true", code=1, words=["`true --version`"])
        self.refused("bench", "barrier", "--", "no-such-launcher", code=127, words=["no-such-launcher"])


if __name__ == "__main__":
    assert os.path.exists(COMMAND)
    main()
