# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import tempfile

from hocket_command import CommandTest, cluster_launchers, launchers, main, run, run_on_nodes

# Nothing here asserts how long anything takes.
QUICK = ["probe", "--budget", "500ms", "--max-bytes", "64K"]
PARAMETERS = ("wire_alpha_us", "wire_overhead_us", "wire_gap_us", "wire_beta_us_per_kib", "wire_lanes")


class Probe(CommandTest):
    def probed(self, family, launcher):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "probe.json")
            text = self.expect(run_on_nodes(family, launcher, [*QUICK, "--json", path]), 0).stdout
            with open(path, encoding="utf-8") as file:
                return text, json.load(file)

    def test_everything_is_measured_and_positive(self):
        for family, launcher in cluster_launchers():
            with self.subTest(family):
                text, found = self.probed(family, launcher)
                self.assertEqual((found["nodes"], found["ranks_a_node"], found["machines"]), (2, 2, 1))
                self.assertEqual({(one["pairs"], one["bytes"]) for one in found["bandwidth"]},
                                 {(pairs, 4 ** power) for pairs in (1, 2) for power in range(9)})
                for one in found["bandwidth"]:
                    self.assertAlmostEqual(one["mb_per_s"] * one["us"] / (2 * one["pairs"] * one["bytes"]), 1, 2)
                self.assertEqual({one["ranks_a_node"] for one in found["start_up"]}, {1, 2})
                for one in found["start_up"]:
                    self.assertEqual(one["message_bytes"] * one["ranks_a_node"] ** 2, one["bytes_a_node_pair"])
                for part in ("latency", "bandwidth", "start_up"):
                    self.assertTrue(all(one["us"] > 0 for one in found[part]), part)
                self.assertTrue(all(one["send_us"] > 0 and one["receive_us"] > 0 for one in found["overhead"]))
                self.assertTrue(found["copies"])
                for name in PARAMETERS:
                    self.assertGreater(found["interface"][name], 0)
                self.assertIn("wire_alpha_us=", text)

    def test_the_numbers_are_understood_by_a_table(self):
        for family, launcher in cluster_launchers()[:1]:
            text, _ = self.probed(family, launcher)
            with tempfile.TemporaryDirectory() as directory:
                path = os.path.join(directory, "site.table")
                words = next(line for line in text.splitlines() if "wire_alpha_us=" in line)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(f"hocket-table 1\nmodel {words.strip()}\n")
                self.expect(run("info", "--explain", "alltoall", "512", "--nodes", "2x2", HOCKET_TABLE=path), 0)

    def test_ranks_of_one_node_know_no_interface(self):
        for family, launcher in launchers():
            with self.subTest(family):
                self.refused(*QUICK, "--", launcher, "-n", "2", code=1, words=["one node"])

    def test_bad_lines(self):
        self.refused("probe", words=["launcher"])
        self.refused("probe", "--budget", "soon", "--", "mpirun", words=["--budget soon"])
        self.refused("probe", "--max-bytes", "1", "--", "mpirun", words=["--max-bytes 1"])
        self.refused("probe", "--", "no-such-launcher", code=127, words=["no-such-launcher"])


if __name__ == "__main__":
    main()
