# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import re
import tempfile
import time

from hocket_command import CommandTest, cluster_launchers, main, run, run_on_nodes

# Nothing here asserts on how good a table is: the machine may be busy. docs/benchmarks.md has that.
SMALL = ["--ranks", "2,3", "--collectives", "barrier,allreduce,alltoall,gatherv", "--max-bytes", "4K"]
# A run that ignored its budget would measure until it is ended.
GENEROUS_S = 120


class Tune(CommandTest):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def tuned(self, *arguments, budget="1s"):
        path = self.path("site.table")
        self.expect(run("tune", "--budget", budget, "--output", path, *SMALL, *arguments), 0)
        return path

    def test_the_table_is_what_ranks_then_choose_by(self):
        path = self.tuned()
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(text.startswith("hocket-table 1\n"), text)
        self.assertRegex(text, r"\nmodel cores=\d+ alpha_us=")
        self.assertRegex(text, r"# Machine: .+ usable cores")
        explained = self.expect(run("info", "--explain", "allreduce", "8", "--ranks", "2", HOCKET_TABLE=path), 0).stdout
        self.assertRegex(explained, rf"because +{re.escape(path)}, line \d+: allreduce")
        self.assertRegex(explained, r"measured +at .*2 ranks: \S+ us")
        rows = self.expect(run("bench", "allreduce,alltoall", "--ranks", "3", "--sizes", "64", "--variants", "hocket",
                               "--time-budget", "0.001", "--iterations", "20", HOCKET_TABLE=path), 0)
        self.assertIn("allreduce", rows.stdout)

    def test_what_was_not_measured_is_predicted(self):
        path = self.tuned()
        text = self.expect(run("info", "--explain", "allreduce", "8", "--ranks", "100", HOCKET_TABLE=path), 0).stdout
        self.assertIn("the model predicts the lowest time", text)
        self.assertRegex(text, rf"model .*\({re.escape(path)}, line \d+\)")

    def test_the_budget_ends_it(self):
        begin = time.monotonic()
        result = self.expect(run("tune", "--budget", "1s", "--ranks", "2,4"), 0)
        self.assertLess(time.monotonic() - begin, GENEROUS_S)
        self.assertTrue(result.stdout.startswith("hocket-table 1\n"))
        self.assertIn("%] ", result.stderr)

    def test_a_network_for_simulations(self):
        path = self.path("site.network")
        result = self.expect(run("tune", "--budget", "1s", "--network", path, *SMALL), 0)
        self.assertEqual(result.stdout, "", "no table was asked for")
        self.assertIn(f"wrote {path}", result.stderr)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(text.startswith("hocket-network 1\n"), text)
        self.assertRegex(text, r"\nalpha_us \S+ +# fitted to \d+ times of collectives, off by a factor of ")
        self.assertRegex(text, r"\ncores \d+ +# counted")
        self.assertNotRegex(text, r"\nwire_")
        times = [json.loads(self.expect(run("simulate", "allreduce", "ring", "--ranks", "4", "--network", network,
                                            "--json"), 0).stdout)["end_us"] for network in (path, "cell-blade")]
        self.assertNotEqual(*times)
        both = self.expect(run("tune", "--budget", "1s", "--network", path, "--json", *SMALL), 0)
        self.assertTrue(json.loads(both.stdout)["table"].startswith("hocket-table 1\n"))

    def test_json_has_every_measurement_and_the_table(self):
        all_of_it = json.loads(self.expect(run("tune", "--budget", "1s", "--json", *SMALL), 0).stdout)
        self.assertTrue(all_of_it["table"].startswith("hocket-table 1\n"))
        self.assertIn("alpha_us", all_of_it["model"])
        self.assertEqual({row["ranks"] for row in all_of_it["measurements"]}, {2, 3})
        for row in all_of_it["measurements"]:
            self.assertGreater(row["isolated_us"], 0)
            self.assertGreater(row["back_to_back_us"], 0)
            self.assertGreater(row["calls"], 0)

    def test_two_tables_are_compared_side_by_side(self):
        path = self.path("slow.table")
        with open(path, "w", encoding="utf-8") as file:
            file.write("hocket-table 1\nallreduce bytes=..64 ring\n")
        result = self.expect(run("tune", "--compare", path, "shipped", "--budget", "1s", "--json", "--ranks", "3",
                                 "--collectives", "barrier,allreduce", "--max-bytes", "4K"), 0)
        compared = json.loads(result.stdout)
        self.assertGreater(compared["measured"], 0)
        for cell in compared["cells"]:
            self.assertEqual("ratio" in cell, not cell["same"])
            if cell["collective"] == "allreduce" and cell["bytes"] <= 64:
                self.assertEqual(cell["a"], "ring")
        text = self.expect(run("tune", "--compare", path, path, "--budget", "1s", *SMALL), 0).stdout
        self.assertIn("0 measured", text)

    def test_a_new_table_against_the_shipped_one(self):
        path = self.path("site.table")
        result = self.expect(run("tune", "--budget", "2s", "--output", path, "--against", "shipped", *SMALL), 0)
        self.assertIn(f"A: {path}\nB: shipped\n", result.stdout)
        self.assertRegex(result.stdout, r"\d+ cells: \d+ with the same choice")

    def test_ranks_on_several_nodes(self):
        for family, launcher in cluster_launchers():
            with self.subTest(family):
                path = self.path(f"{family}.table")
                # On a busy machine the budget is over after the first cell.
                arguments = ["tune", "--budget", "3s", "--collectives", "alltoall", "--max-bytes", "1K",
                             "--shapes", "2x2", "--output", path]
                self.expect(run_on_nodes(family, launcher, arguments), 0)
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                self.assertRegex(text, r"\nmodel cores=.* wire_alpha_us=\S+ .* one_machine=1\n")
                self.assertRegex(text, r"\nalltoall +nodes=2 ppn=\.\.2 ")
                self.assertRegex(text, r"\nallreduce +ranks=", "what the shipped table has is still there")
                self.check_that_it_is_used(family, launcher, path)

    def check_that_it_is_used(self, family, launcher, path):
        explained = self.expect(run("info", "--explain", "alltoall", "24", "--nodes", "2x2", "--crowded", "yes",
                                    HOCKET_TABLE=path), 0).stdout
        with open(path, encoding="utf-8") as file:
            has_rule = re.search(r"alltoall +nodes=2 ppn=\.\.2 +crowded", file.read())
        if has_rule:
            self.assertRegex(explained, rf"because +{re.escape(path)}, line \d+: alltoall")
        self.assertRegex(explained, r"wire +alpha")
        arguments = ["bench", "alltoall", "--variants", "mpi;hocket", "--sizes", "8", "--time-budget", "0.001",
                     "--iterations", "20"]
        result = self.expect(run_on_nodes(family, launcher, arguments, HOCKET_TABLE=path), 0)
        self.assertIn("on 2 nodes", result.stdout)

    def test_a_cluster_table_keeps_what_it_is_merged_with(self):
        family, launcher = cluster_launchers()[0]
        old = self.path("old.table")
        with open(old, "w", encoding="utf-8") as file:
            file.write("hocket-table 1\nmodel alpha_us=0.25\nalltoall nodes=2 ppn=9 leader  # of the old one\n"
                       "alltoall nodes=2 ppn=1..2 crowded leader\n")
        network = self.path("cluster.network")
        arguments = ["tune", "--budget", "2s", "--collectives", "alltoall", "--max-bytes", "64", "--shapes", "2x2",
                     "--merge", old, "--output", self.path("new.table"), "--network", network]
        self.expect(run_on_nodes(family, launcher, arguments), 0)
        with open(network, encoding="utf-8") as file:
            text = file.read()
        self.assertRegex(text, r"\nalpha_us 0.25 +# of the table `\S+old.table`, not fitted here\n")
        self.assertRegex(text, r"\nwire_alpha_us \S+ +# measured between nodes")
        self.assertRegex(text, r"\none_machine 1 +# found")
        with open(self.path("new.table"), encoding="utf-8") as file:
            table = file.read()
        self.assertIn("alpha_us=0.25", table)
        self.assertIn("# of the old one", table)
        # A rule for the same cells takes the old one's place.
        is_replaced = re.search(r"\nalltoall +nodes=2 ppn=\.\.2 +crowded", table) is not None
        self.assertEqual(len(re.findall(r"\nalltoall +nodes=2 ppn=1\.\.2 ", table)), 0 if is_replaced else 1)

    def test_one_table_of_runs_under_several_mpis(self):
        family, launcher = cluster_launchers()[0]
        measured = self.path("measured.json")
        arguments = ["tune", "--budget", "2s", "--collectives", "alltoall", "--sizes", "16,2K", "--shapes", "2x2",
                     "--json", "--output", self.path("its.table")]
        printed = self.expect(run_on_nodes(family, launcher, arguments), 0).stdout
        measurements = json.loads(printed[printed.index("{"):])
        self.assertEqual({row["bytes"] for row in measurements["measurements"]}, {16, 2048})
        with open(measured, "w", encoding="utf-8") as file:
            json.dump(measurements, file)
        path = self.path("both.table")
        self.expect(run("tune", "--from", measured, measured, "--merge", "none", "--output", path), 0)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertIn(f"# MPI: {measurements['mpi']}\n", text)
        self.assertRegex(text, r"\nalltoall +nodes=2 ppn=\.\.2 ")
        self.refused("tune", "--from", "/nowhere/x.json", words=["--from", "/nowhere/x.json"])
        self.refused("tune", "--from", path, words=["--from", path, "hocket tune --json"])
        self.refused("tune", "--from", measured, "--ranks", "4", words=["--from", "--ranks"])

    def test_bad_lines_of_clusters(self):
        family, launcher = cluster_launchers()[0]
        for words, arguments in ((["--shapes 4x4", "2 nodes"], ["--shapes", "4x4"]),
                                 (["/nowhere"], ["--merge", "/nowhere/old.table"]),
                                 (["--output", "/nowhere"], ["--output", "/nowhere/site.table"])):
            result = run_on_nodes(family, launcher, ["tune", "--budget", "1s", *arguments])
            self.assertNotEqual(result.returncode, 0)
            for word in words:
                self.assertIn(word, result.stdout + result.stderr)
        self.refused("tune", "--shapes", "2x2", words=["--shapes"])
        self.refused("tune", "--ranks", "4", "--", launcher, "-n", "2", words=["--ranks"])

    def test_bad_lines(self):
        self.refused("tune", "--budget", "soon", words=["--budget soon"])
        self.refused("tune", "--budget", "0", words=["--budget 0"])
        self.refused("tune", "--ranks", "1", words=["--ranks 1"])
        self.refused("tune", "--collectives", "alreduce", words=["`alreduce`"])
        self.refused("tune", "--max-bytes", "1", words=["--max-bytes"])
        self.refused("tune", "--sizes", "12", words=["--sizes 12", "whole doubles"])
        self.refused("tune", "--output", "/nowhere/site.table", words=["--output", "/nowhere/site.table"])
        self.refused("tune", "--against", "shipped", words=["--output"])
        self.refused("tune", "--network", self.path("site"), words=["--network", "ends in .network"])
        self.refused("tune", "--network", "/nowhere/site.network", words=["--network", "/nowhere/site.network"])
        self.refused("tune", "--network", "x.network", "--compare", "shipped", "shipped", words=["--network"])
        self.refused("tune", "--network", "x.network", "--from", "x.json", words=["--network"])
        self.refused("tune", "--compare", "shipped", "shipped", "--output", self.path("x"), words=["--compare"])

    def test_tables_that_cannot_be_read_are_refused_before_anything_is_measured(self):
        path = self.path("broken.table")
        with open(path, "w", encoding="utf-8") as file:
            file.write("hocket-table 1\n\nmodel alpha=1\n")
        words = [f"{path}:3:", "`alpha=1`"]
        self.refused("tune", "--compare", path, "shipped", code=1, words=words)
        self.refused("tune", "--against", path, "--output", self.path("x"), code=1, words=words)
        self.refused("info", "--explain", "barrier", code=1, words=words, HOCKET_TABLE=path)
        self.refused("tune", "--compare", "/etc/passwd", "shipped", code=1, words=["not a tuning table"])

    def test_ranks_refuse_a_broken_table_with_its_line(self):
        path = self.path("broken.table")
        with open(path, "w", encoding="utf-8") as file:
            file.write("hocket-table 1\nbarrier quick\n")
        self.refused("bench", "barrier", "--ranks", "2", code=1, words=[f"{path}:2:", "`quick`"], HOCKET_TABLE=path)


if __name__ == "__main__":
    main()
