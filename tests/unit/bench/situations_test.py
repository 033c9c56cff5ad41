#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `./dev bench situations` computes from its measurements, and how it survives jobs that hang or fail."""

import argparse
import json
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench/situations"))
import jobs  # pylint: disable=wrong-import-position
import plan  # pylint: disable=wrong-import-position
import results  # pylint: disable=wrong-import-position


def cell_of(values, troubles=None, **names):
    return {"mpi": "mpich", "ranks": 2, "situation": "tight", "call": "barrier", "values": values,
            "troubles": troubles or {}, **names}


class Ratio(unittest.TestCase):
    def test_is_that_of_the_better_side_of_the_mpi(self):
        self.assertEqual(results.ratio(cell_of({"alone": [9, 3, 4], "best": [2], "hocket": [1, 1, 8]})), 2)

    def test_is_zero_where_hocket_hangs(self):
        self.assertEqual(results.ratio(cell_of({"alone": [4], "hocket": [1]}, {"hocket": "timed out"})), 0)

    def test_is_nothing_where_hocket_is_not_measured(self):
        self.assertIsNone(results.ratio(cell_of({"alone": [4]})))

    def test_is_nothing_where_the_mpi_hangs(self):
        self.assertIsNone(results.ratio(cell_of({"hocket": [1]}, {"alone": "timed out"})))


class Tables(unittest.TestCase):
    def test_list_hangs_first_then_losses(self):
        cells = [cell_of({"alone": [4], "hocket": [1]}, call="win"), cell_of({"hocket": [1]}, call="unknown"),
                 cell_of({"alone": [1], "hocket": [4]}, call="loss"),
                 cell_of({"alone": [1]}, {"hocket": "timed out"}, call="hang")]
        self.assertEqual([cell["call"] for cell in results.in_order(cells)], ["hang", "loss", "win", "unknown"])
        self.assertIn("| timed out | 0.00 |", results.cell_table(cells).splitlines()[2])

    def test_count_no_processor_time(self):
        cells = [cell_of({"alone": [4], "hocket": [1]}),
                 cell_of({"alone": [99], "hocket": [1]}, call="processor_nothing")]
        self.assertIn("| all |  | 1 | 0 | 4.00 | 4.00 |", results.summary(cells))
        self.assertIn("99.0", results.processor_table(cells))

    def test_have_a_geometric_mean(self):
        cells = [cell_of({"alone": [4], "hocket": [1]}), cell_of({"alone": [1], "hocket": [4]}, call="other")]
        self.assertEqual(results.totals(cells), ["2", "1", "1.00", "0.25"])

    def test_are_replaced_in_a_page(self):
        first = results.fit_into("# Page\n\nBy hand.\n", "old")
        second = results.fit_into(first + "\nAfter.\n", "new")
        self.assertTrue(second.startswith("# Page\n\nBy hand.\n"))
        self.assertIn("new", second)
        self.assertNotIn("old", second)
        self.assertTrue(second.endswith("\nAfter.\n"))

    def test_are_made_from_kept_results(self):
        found = results.Results()
        found.add("mpich", 2, "alone", {("tight", "barrier"): 3.0}, {})
        found.add("mpich", 2, "hocket", {("tight", "barrier"): 6.0}, {})
        data = found.as_data({"mpis": {"mpich": "5"}, "processor": "P", "cores": 2, "kernel": "6", "date": "today",
                              "rounds": 1, "command": "command"})
        self.assertEqual(json.loads(results.as_json(data)), data)
        self.assertIn("| mpich | 2 | tight | barrier | 3.00 | - | 6.00 | 0.50 |", results.page(data))


class Plan(unittest.TestCase):
    def test_measures_no_cell_twice(self):
        for ranks in (2, 4, 8):
            cells = [cell for start in plan.starts_of(ranks, True) for _, found in start.units for cell in found]
            self.assertEqual(len(cells), len(set(cells)))

    def test_takes_names_and_their_first_words(self):
        found = plan.chosen(plan.starts_of(2), ["late", "peer_first_1"])
        situations = {situation for start in found for _, cells in start.units for situation, _ in cells}
        self.assertEqual(situations, {"late_0.3", "late_1", "late_4", "late_8", "late_40", "late_400", "peer_first_1"})

    def test_has_the_first_call_of_a_job_first(self):
        for start in plan.starts_of(2, True):
            for at, (unit, _) in enumerate(start.units):
                self.assertTrue(at == 0 or not unit.startswith("first_"))

    def test_fits_into_a_quarter_of_an_hour(self):
        seconds = sum(plan.seconds_of(start, mpi, ranks) * len(jobs.sides_of(start, mpi, ranks, 2))
                      for mpi in ("mpich", "openmpi") for ranks in (2, 4, 8) for start in plan.starts_of(ranks))
        self.assertLess(3 * seconds, 15 * 60)


class Jobs(unittest.TestCase):
    """Jobs are a script here: it prints cells, hangs at `c` and fails at `e`."""

    SCRIPT = ("for cell in $(echo $CELLS | tr , ' '); do echo '{\"begin\": \"'$cell'\"}'; "
              "[ $cell = t:c ] && exec sleep 60; [ $cell = t:e ] && { echo reason >&2; exit 3; }; "
              "echo '{\"cell\": \"'$cell'\", \"value\": 1.5}'; done")

    def run_cells(self, letters):
        start = plan.Start("t", "situations.c", [(f"t:{letter}", [("t", letter)]) for letter in letters])

        def command(_, units, *__):
            return ["sh", "-c", self.SCRIPT], dict(os.environ, CELLS=",".join(unit for unit, _ in units))
        with tempfile.TemporaryDirectory() as work, unittest.mock.patch.object(jobs, "command_for", command), \
                unittest.mock.patch.object(jobs, "LINE_LIMIT_S", 0.5):
            return jobs.run_start(start, "mpich", "hocket", 2, work, argparse.Namespace(block_ms=1))

    def test_have_a_value_each(self):
        values, troubles, others = self.run_cells("ab")
        self.assertEqual(values, {("t", "a"): 1.5, ("t", "b"): 1.5})
        self.assertEqual((troubles, others), ({}, []))

    def test_that_hang_or_fail_lose_one_cell_each(self):
        values, troubles, others = self.run_cells("acbed")
        self.assertEqual(values, {("t", letter): 1.5 for letter in "abd"})
        self.assertEqual(troubles, {("t", "c"): "timed out", ("t", "e"): "exit status 3: reason"})
        self.assertEqual(others, [])


if __name__ == "__main__":
    unittest.main()
