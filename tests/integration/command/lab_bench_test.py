# SPDX-License-Identifier: BSD-3-Clause
"""The scripts that measure in the lab, without a lab: what they would run, and what they make of results."""

import json
import os
import subprocess
import sys
import tempfile

from hocket_command import COMMAND, CommandTest, main, run

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../scripts")
sys.path.insert(0, SCRIPTS)
import lab_results  # noqa: E402  pylint: disable=wrong-import-position

SCHEMES = ["leader", "send_aggregation", "receive_distribution"]
FLAT = ["bruck", "linear", "pairwise"]


def script(name, *arguments):
    return subprocess.run([sys.executable, "-B", os.path.join(SCRIPTS, name), *arguments], capture_output=True,
                          text=True, timeout=100, check=False)


class LabBench(CommandTest):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def dry_run(self, *arguments):
        result = script("lab_bench.py", "--dry-run", "--hocket", COMMAND, "--output", self.directory.name, *arguments)
        return self.expect(result, 0).stdout

    def results(self, times):
        """A file of alltoall on 2 nodes of 2 ranks, with these medians by variant and bytes."""
        path = os.path.join(self.directory.name, "mpich-2x2-alltoall.json")
        rows = [{"collective": "alltoall", "ranks": 4, "nodes": 2, "ranks_a_node": 2, "bytes": size,
                 "variant": variant, "timing": "back-to-back", "median_us": us, "p10_us": us, "p90_us": 2 * us,
                 "p99_us": us, "max_us": us, "iterations": 9} for (variant, size), us in times.items()]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(rows, file)
        return path

    def test_it_runs_every_scheme_under_every_mpi_and_shape(self):
        text = self.dry_run("--shapes", "2x4,8x2", "--mpi", "mpich,debian-openmpi", "--collectives",
                            "alltoall,broadcast")
        self.assertIn("12 runs", text)
        alltoalls = [line for line in text.splitlines() if "bench alltoall" in line]
        self.assertEqual(len(alltoalls), 4)
        for line in alltoalls:
            for variant in FLAT + [f"{scheme}:across={inner}" for scheme in SCHEMES for inner in FLAT]:
                self.assertIn(variant, line)
        self.assertIn("-n 8 --ppn 4", text)
        self.assertIn("-n 16 --ppn 2", text)

    def test_what_is_there_is_not_measured_again(self):
        arguments = ["--shapes", "2x2", "--mpi", "mpich", "--collectives", "alltoall"]
        self.results({("mpi", 8): 1})
        self.assertIn("1 runs", self.dry_run(*arguments))
        self.assertIn("2 runs", self.dry_run(*arguments, "--again"))

    def test_collectives_have_the_names_that_the_command_takes(self):
        text = self.dry_run("--shapes", "2x2", "--mpi", "mpich", "--collectives", "MPI_Bcast,bcast,alltoall")
        self.assertEqual((text.count("bench broadcast"), text.count("bench alltoall")), (1, 1), text)

    def test_bad_lines(self):
        for arguments, word in ((["--shapes", "2x"], "2x"), (["--hocket", "/nowhere/hocket"], "/nowhere/hocket"),
                                (["--collectives", "bcats"], "did you mean broadcast?")):
            result = script("lab_bench.py", "--dry-run", "--hocket", COMMAND, *arguments)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(word, result.stderr)

    def test_orig_changes_over_where_the_paper_did(self):
        self.assertEqual([lab_results.flat_algorithm(size) for size in (1, 256, 257, 32768, 32769)],
                         ["bruck", "bruck", "linear", "linear", "pairwise"])
        offload = lab_results.parse_points("8K,8K")
        self.assertEqual([lab_results.flat_algorithm(size, offload) for size in (8192, 8193)], ["bruck", "pairwise"])
        # The messages inside are longer than the blocks: two nodes of four ranks.
        rows = {f"{scheme}:across={inner}": inner for scheme in SCHEMES for inner in FLAT}
        self.assertEqual(lab_results.with_orig(rows, "leader", (2, 4), 16), "bruck")
        self.assertEqual(lab_results.with_orig(rows, "leader", (2, 4), 17), "linear")
        self.assertEqual(lab_results.with_orig(rows, "send_aggregation", (2, 4), 64), "bruck")
        self.assertEqual(lab_results.with_orig(rows, "receive_distribution", (2, 4), 16384), "pairwise")

    def test_predictions_are_read_with_the_choice_of_their_table(self):
        presets = os.path.join(SCRIPTS, "../src/selection/presets")
        answer = run("algorithms", "alltoall", "--nodes", "2x4", "--predict", "64,512", "--json", "--variants",
                     "bruck;linear;leader", "--model", os.path.join(presets, "infinipath.table"),
                     HOCKET_TABLE=os.path.join(presets, "mvapich-psm.table"))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "infinipath-2x4-predicted.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.expect(answer, 0).stdout)
            self.assertEqual(lab_results.read_cells([path]), {})
            variants = lab_results.read_predictions([path])["infinipath", (2, 4)]
            self.assertEqual(variants["orig"], {64: variants["bruck"][64], 512: variants["linear"][512]})
            self.assertGreater(variants["leader"][64], 0)
            other = os.path.join(folder, "infinipath-4x2-predicted.json")
            os.rename(path, other)
            with self.assertRaisesRegex(SystemExit, "predicted for 2 nodes"):
                lab_results.read_predictions([other])

    def test_the_report_has_ratios_losses_and_schemes(self):
        path = self.results({("mpi", 64): 30, ("hocket", 64): 20, ("bruck", 64): 41, ("linear", 64): 42,
                             ("send_aggregation:across=bruck", 64): 43, ("mpi", 512): 30, ("hocket", 512): 60,
                             ("bruck", 512): 51, ("linear", 512): 52, ("leader", 512): 13})
        text = self.expect(script("lab_report.py", path), 0).stdout
        self.assertIn("| mpich | alltoall | 0.87 (1 of 2) |", text)
        self.assertIn("| 0.50 | mpich | alltoall | 2x2 | back-to-back | 512 B | 30.0 | 60.0 |", text)
        self.assertIn("| 64 B | 30.0 (30.0..60.0) | 20.0 (20.0..40.0) | 1.50 | 41.0 |  | 43.0 |", text)
        self.assertIn("| 512 B | 30.0 (30.0..60.0) | 60.0 (60.0..120) | 0.50 | 52.0 |", text)
        self.assertIn("| mpich | back-to-back | 75 % (leader) |", text)
        self.assertIn("| mpich | alltoall | 2 | 2.55 | 0.49 | 4.62 | 2x2, 512 B, back-to-back: leader |", text)

    def test_files_of_another_shape_are_refused(self):
        path = self.results({("mpi", 8): 1, ("hocket", 8): 1})
        other = os.path.join(self.directory.name, "mpich-4x1-alltoall.json")
        os.rename(path, other)
        for file in (other, "/nowhere/rows.json"):
            self.assertNotEqual(script("lab_report.py", file).returncode, 0)

    def sums(self, timing, rows, name="", **more):
        """A file of reductions: (nodes, variant, algorithm, mean)."""
        path = os.path.join(self.directory.name, f"{timing}{name}.json")
        shape = {"collective": "reduce", "timing": timing, "switch": "bridge", "type": "double", "elements": 1,
                 "impairment": "", "processor_us": 7, "packets": -1, **more}
        with open(path, "w", encoding="utf-8") as file:
            json.dump([shape | {"nodes": nodes, "variant": variant, "algorithm": algorithm, "mean_us": us,
                                "lowest_us": us - 1, "highest_us": us + 1, "median_us": us, "p99_us": 3 * us,
                                "root_us": 2 * us, "others_us": us / 2, "others_median_us": us / 4}
                       for nodes, variant, algorithm, us in rows], file)
        return path

    def test_the_report_of_sums_compares_like_with_like(self):
        rows = [(4, "nic", "binomial", 10), (4, "nic", "chain", 20), (4, "host-udp", "binomial", 25),
                (4, "host-udp", "chain", 30), (4, "mpi", "mpich", 40), (4, "mpi", "openmpi", 35)]
        text = self.expect(script("nic_data_report.py", self.sums("latency", rows)), 0).stdout
        self.assertIn("### reduce, latency, switch bridge\n", text)
        self.assertRegex(text, r"nic binomial +\| 10.0 +\| 9.0 to 11.0 +\| 10.0 +\| 30.0 +\| 2.50 +\| 3.50 +\| 3.50 ")
        self.assertRegex(text, r"nic chain +\| 20.0 .*\| 1.50 +\| 1.75 +\| 1.75 ")
        # Rows of other files were measured at another time.
        files = self.sums("latency", rows[:1], name="-one"), self.sums("latency", rows[2:], name="-other")
        text = self.expect(script("nic_data_report.py", *files), 0).stdout
        self.assertRegex(text, r"nic binomial +\| 10.0 +\| 9.0 to 11.0 +\| 10.0 +\| 30.0 +\| +\| +\| +\| 7 ")
        overlaps = self.sums("overlap", rows[:1], call_us=20, computation_us=100, both_us=104, overlap=0.8,
                             computes_by="sleep")
        text = self.expect(script("nic_data_report.py", overlaps), 0).stdout
        self.assertRegex(text, r"sleep +\| nic binomial +\| 20.0 +\| 100.0 +\| 104.0 +\| 80 % ")
        rows = self.sums("host-time", rows, skew_us=1000, fetches_later=False)
        text = self.expect(script("nic_data_report.py", rows), 0).stdout
        self.assertRegex(text, r"1000 +\| nic binomial +\| 10.0 .*\| 20.0 +\| 5.0 +\| 2.5 +\| 2.50 +\| 3.50 ")
        drawn = script("nic_data_report.py", rows, "--figures", self.directory.name)
        if "matplotlib is missing" in drawn.stderr:
            self.skipTest("no matplotlib here: scripts/requirements/figures.txt")
        with open(os.path.join(self.directory.name, "nic-reduce-skew-nodes-bridge.svg"), encoding="utf-8") as file:
            self.assertIn("<svg", file.read())

    def test_the_report_of_multicasts_has_each_rank_and_what_is_sent(self):
        rows = [(4, "hocket", "mpich:multicast", 60), (4, "mpi", "mpich", 90), (8, "hocket", "mpich:multicast", 70)]
        path = self.sums("latency", rows, collective="bcast", bytes=2048, rank_us=[5, 40, 50, 60], sent_bytes=9000,
                         root_packets=2, root_sent_bytes=4000, processor_us=7000)
        text = self.expect(script("multicast_report.py", path), 0).stdout
        self.assertRegex(text, r"\| 4 +\| 2 KiB +\| \*\*60\*\* \(60\) +\| 90 \(90\) ")
        row = r"\| 4 +\| 2 KiB .*multicast \(mpich\) +\| 60 .*\| 40.0 +\| 60.0 +\| 33 % +\| 20 % +\| 7.0 "
        self.assertRegex(text, row)
        drawn = script("multicast_report.py", path, "--figures", self.directory.name)
        if "matplotlib is missing" not in drawn.stderr:
            for name in ("latency", "ranks", "rank-1", "rank-last"):
                self.assertTrue(os.path.exists(os.path.join(self.directory.name, f"multicast-{name}.svg")), name)
        refused = script("multicast_report.py", self.sums("overlap", rows))
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("no latencies of ranks", refused.stderr)

    def test_reports_refuse_each_others_files(self):
        path = self.results({("mpi", 8): 1})
        result = script("nic_data_report.py", path)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("nic_report.py", result.stderr)

    def test_figures_are_drawn(self):
        path = self.results({(variant, size): 10 * size for size in (64, 512)
                             for variant in ("mpi", "hocket", *FLAT, "leader:across=linear",
                                             "send_aggregation:across=linear")})
        result = script("cluster_figures.py", path, "--output", self.directory.name)
        if "matplotlib is missing" in result.stderr:
            self.skipTest("no matplotlib here: scripts/requirements/figures.txt")
        self.expect(result, 0)
        for figure in ("alltoall-mpich-2x2", "distribution-mpich-2x2", "alltoall-mpich-512"):
            with open(os.path.join(self.directory.name, f"{figure}.svg"), encoding="utf-8") as file:
                self.assertIn("<svg", file.read())


if __name__ == "__main__":
    main()
