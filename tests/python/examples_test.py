# SPDX-License-Identifier: BSD-3-Clause
"""The examples in Python. k-means: bit for bit what the example in C finds, on any number of ranks. The plate: bit for
bit what one rank works out alone."""

import pathlib
import re
import sys
import tempfile

from hocket_python import COMMAND, ROOT, PythonTest, main, run

PROGRAM = ROOT / "examples" / "kmeans" / "kmeans.py"
PLATE = ROOT / "examples" / "plate" / "plate.py"
POINTS = "x,y\n0,0\n0.5,0\n0,0.5\n9,9\n9.5,9\n9,9.5\n-7,8\n"


class KMeans(PythonTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hocket-kmeans-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def found(self, *line):
        """The result line, without what may differ, and the labels."""
        labels = self.folder / "labels"
        result = self.expect(run(*line, "--output", labels))
        [words] = re.findall(r"^ranks \d+ (.*) seconds [\d.]+$", result.stdout, re.MULTILINE)
        return words, labels.read_text(encoding="utf-8")

    def test_it_finds_what_c_finds(self):
        file = self.folder / "points.csv"
        file.write_text(POINTS, encoding="utf-8")
        bare = self.folder / "bare.csv"  # what looks like titles are numbers
        bare.write_text("1e-3,2\n\n" + POINTS.partition("\n")[2].replace(",", "; "), encoding="utf-8")
        for arguments in (["--points", 3000, "--seed", 7, "--starts", 3], ["--file", file, "--clusters", 3],
                          ["--file", bare, "--clusters", 3]):
            wanted = self.found(COMMAND.parent / "kmeans", *arguments)
            self.assertGreater(len(set(wanted[1].split())), 2)
            for ranks in (8,) if file in arguments else (2,) if bare in arguments else (1, 3):  # more ranks than points
                with self.subTest(arguments=arguments, ranks=ranks):
                    self.assertEqual(self.found(COMMAND, "run", "-n", ranks, sys.executable, PROGRAM, *arguments),
                                     wanted)

    def test_a_mistake_is_told_once(self):
        wrong = {name: self.folder / name for name in ("nan", "words", "ragged", "empty")}
        for name, content in (("nan", "1,2\n3,nan\n"), ("words", "1,2\n3,x\n"), ("ragged", "1,2\n3\n"),
                              ("empty", "x\n")):
            wrong[name].write_text(content, encoding="utf-8")
        for arguments, words in ((["--starts", "0"], "--starts is 0"), (["--file", "/nowhere"], "/nowhere"),
                                 (["--file", wrong["nan"]], "line 2: not up to 64 numbers"),
                                 (["--file", wrong["words"]], "line 2: not up to 64 numbers"),
                                 (["--file", wrong["ragged"]], "line 2: not as many numbers as before"),
                                 (["--file", wrong["empty"]], "fewer points")):
            # One rank, where it makes no difference who is told.
            ranks = 1 if arguments[1] in wrong.values() else 2
            result = self.expect(run(COMMAND, "run", "-n", ranks, sys.executable, PROGRAM, *arguments), 2)
            self.assertEqual(len(re.findall(rf"^.*kmeans.*: .*{re.escape(words)}", result.stderr, re.MULTILINE)), 1,
                             result.stderr)
            self.assertNotIn("Traceback", result.stderr)


class Plate(PythonTest):
    def found(self, ranks, *arguments):
        """What it prints, without how the ranks lie."""
        result = self.expect(run(COMMAND, "run", "-n", ranks, sys.executable, PLATE, *arguments))
        return re.sub(r"^ranks \d+ x \d+", "ranks", result.stdout, flags=re.MULTILINE)

    def test_any_number_of_ranks_finds_the_same(self):
        for arguments in (["--steps", 40], ["--rows", 7, "--columns", 9, "--steps", 5]):
            alone = self.found(1, *arguments)
            self.assertRegex(alone, r"(?s)@.*heat [\d.]+ wrong 0\n$")
            for ranks in (2, 6):  # a row of ranks, and two
                with self.subTest(arguments=arguments, ranks=ranks):
                    self.assertEqual(self.found(ranks, *arguments), alone)

    def test_a_plate_that_is_too_small_is_told_once(self):
        result = self.expect(run(COMMAND, "run", "-n", 4, sys.executable, PLATE, "--rows", 3), 2)
        self.assertEqual(result.stderr.count("--rows 3 are too few: 2 ranks beside each other need 2 each"), 1)


if __name__ == "__main__":
    main()
