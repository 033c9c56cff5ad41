# SPDX-License-Identifier: BSD-3-Clause
"""The charts of the first page are those that its tables give."""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
SCRIPT = ROOT / "scripts/site/home_charts.py"


def python_that_draws():
    own = ROOT / ".venv/figures/bin/python"
    return str(own) if own.exists() else sys.executable if importlib.util.find_spec("matplotlib") else None


def run(python, *arguments):
    return subprocess.run([python, "-B", str(SCRIPT), *arguments], capture_output=True, text=True, check=True).stdout


class Charts(unittest.TestCase):
    def test_numbers_are_those_of_the_tables(self):
        said = run(sys.executable, "--numbers")
        for table, cells in (("collectives.md", ("openmpi5 | from 4 KiB | 3.18",)),
                             ("programs.md", ("heat2d | mpich | 8 | > 12 |",)),
                             ("around.md", ("openmpi | 2 | core_percent | 100.0",))):
            text = (ROOT / "bench/results/one-machine" / table).read_text(encoding="utf-8")
            for cell in cells:
                self.assertTrue(cell in text, f"`{cell}` of {table} has been measured anew: write it here")
        self.assertIn("Open MPI 5, long: {2: 3.18,", said)
        self.assertIn("heat2d: [12.0,", said)
        self.assertIn("Open MPI 5 alone: {2: 100.0,", said)

    def test_charts_are_drawn_from_what_is_kept(self):
        python = python_that_draws()
        if python is None:
            self.skipTest("matplotlib is not installed")
        with tempfile.TemporaryDirectory() as folder:
            run(python, "--output", folder)
            drawn = sorted(pathlib.Path(folder).glob("*.svg"))
            self.assertEqual(len(drawn), 3)
            for chart in drawn:
                self.assertTrue(chart.read_bytes() == (ROOT / "docs/figures" / chart.name).read_bytes(),
                                f"docs/figures/{chart.name} is of other tables: scripts/site/home_charts.py")


if __name__ == "__main__":
    unittest.main()
