# SPDX-License-Identifier: BSD-3-Clause
"""The scripts that measure and draw the papers' figures, without a lab: what they would run, and what they make of
what is kept."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from hocket_command import COMMAND, CommandTest, main

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
EVERY = list(range(2, 17))


def pythons():
    """One that can draw, if there is one."""
    own = ROOT / ".venv/figures/bin/python"
    if own.exists():
        return str(own)
    return sys.executable if importlib.util.find_spec("matplotlib") else None


def nodes_of(runs):
    """Of runs with one number of nodes each."""
    return [int(re.search(r"--nodes (\d+) ", run)[1]) for run in runs]


class PaperFigures(CommandTest):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.folder = pathlib.Path(self.directory.name)

    def script(self, name, *arguments, code=0, python=sys.executable):
        result = subprocess.run([python, "-B", str(ROOT / "scripts" / name), *arguments], capture_output=True,
                                text=True, timeout=200, check=False)
        return self.expect(result, code)

    def bench(self, *arguments, code=0):
        return self.script("papers/measure.py", "--dry-run", "--hocket", COMMAND, "--output", str(self.folder),
                           *arguments, code=code)

    def figures(self, *arguments, **settings):
        return self.script("papers/figures.py", "--kept", str(self.folder), "--output", str(self.folder / "drawn"),
                           *arguments, **settings)

    def keep(self, name, rows):
        (self.folder / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")

    def keep_chain(self):
        """Of the host 10 us, and 5 a level (int64) or 6 (double); of the engine 12, and 2 or 3."""
        self.keep("reduce-chain-bridge",
                  [{"variant": variant, "algorithm": "chain", "type": of_type, "nodes": nodes,
                    "mean_us": first + (a_level + (of_type == "double")) * (nodes - 1)}
                   for variant, first, a_level in (("host-udp", 10, 5), ("nic", 12, 2))
                   for of_type in ("int64", "double") for nodes in EVERY])

    def test_it_measures_as_the_papers_did(self):
        text = self.bench().stdout
        runs = {name: re.findall(r"lab bench .*", part)
                for name, part in re.findall(r"min  (\S+)\n((?: {12}.*\n)+)", text)}
        for name in ("barrier-redirect", "barrier-bridge", "barrier-500us", "barrier-5ms"):
            self.assertEqual(nodes_of(runs[name]), EVERY, name)
        self.assertTrue(all("--rounds 10000 " in run and "--warm-up 100" in run for run in runs["barrier-redirect"]))
        self.assertTrue(all("--impair delay=5ms" in run for run in runs["barrier-5ms"]))
        for switch in ("redirect", "bridge"):
            for figure in ("latency", "chain", "flat", "host", "skew", "skew-nodes"):
                for run in runs[f"reduce-{figure}-{switch}"]:
                    for words in (f"--switch {switch}", "--rounds 10000", "--type int64,double"):
                        self.assertIn(words, run)
            self.assertEqual(nodes_of(runs[f"reduce-chain-{switch}"]), EVERY)
        # A lab each: a multicast goes to all nodes of a lab.
        self.assertEqual(nodes_of(runs["multicast-5ms"])[:3], [2, 4, 8])
        self.assertEqual(nodes_of(runs["multicast-5ms"])[-1], 116)

    def test_what_is_kept_is_measured_again_where_that_is_asked_for(self):
        self.keep("multicast-5ms", [])
        self.assertNotIn("multicast-5ms", self.bench().stdout)
        self.assertIn("multicast-5ms", self.bench("--again").stdout)
        self.assertIn("1 sets", self.bench("multicast-5ms").stdout)

    def stand_in(self, script):
        """A command in the place of hocket; its last argument is the file for rows."""
        path = self.folder / "hocket"
        path.write_text("#!/bin/sh\n" + script, encoding="utf-8")
        path.chmod(0o755)
        return ["--hocket", str(path), "--output", str(self.folder)]

    def test_rows_are_kept_a_line_each_and_nothing_of_what_fails(self):
        for name, script, code, lines in (
                ("reduce-skew-bridge", 'for file; do :; done; echo \'[{"nodes": 16}, {"nodes": 16}]\' > "$file"', 0, 4),
                ("reduce-skew-redirect", "exit 3", 1, None)):
            self.script("papers/measure.py", *self.stand_in(script), name, code=code)
            kept = self.folder / f"{name}.json"
            self.assertEqual(len(kept.read_text(encoding="utf-8").splitlines()) if kept.exists() else None, lines)

    def test_what_it_runs_ends_with_it(self):
        noted = self.folder / "process"
        arguments = self.stand_in(f"echo $$ > {noted}.part; mv {noted}.part {noted}; exec sleep 1000")
        measure = subprocess.Popen([sys.executable, "-B", str(ROOT / "scripts/papers/measure.py"), *arguments,
                                    "reduce-skew-bridge"], stdout=subprocess.DEVNULL)
        self.addCleanup(measure.kill)
        while not noted.exists():
            self.assertIsNone(measure.poll())
            time.sleep(0.01)
        measure.terminate()
        self.assertEqual(measure.wait(timeout=100), 143)
        self.assertFalse(os.path.exists(f"/proc/{int(noted.read_text(encoding='utf-8'))}"))

    def test_a_set_or_a_figure_that_there_is_not_is_told_with_those_that_there_are(self):
        self.assertIn("reduce-chain-redirect", self.bench("reduce-chains", code=2).stderr)
        self.assertIn("reduce-chain", self.figures("reduce-chains", code=2).stderr)

    def test_what_is_not_kept_is_told_with_how_to_measure_it(self):
        said = self.figures("reduce-chain", code=1).stderr
        self.assertIn("sudo scripts/papers/measure.py reduce-chain-redirect reduce-chain-bridge", said)
        (self.folder / "multicast-5ms.json").write_text("[{", encoding="utf-8")
        self.assertIn("--again multicast-5ms", self.figures("multicast-5ms", code=1).stderr)

    def test_slopes_are_those_of_the_lines(self):
        self.keep_chain()
        said = self.figures("reduce-chain", "--numbers").stdout
        self.assertIn("int64, engine, in order: host 5.00 us a level, engine 2.00; the gap grows by 3.00 us a level "
                      "from 1.00 us at 1; slower nowhere", said)
        self.assertIn("double, engine, in order: host 6.00 us a level, engine 3.00; the gap grows by 3.00", said)
        self.assertIn("3.70 us a level (int)", said)

    def test_factors_are_of_one_switch_number_of_nodes_and_type(self):
        self.keep("reduce-latency-redirect",
                  [{"variant": variant, "algorithm": "binomial", "type": of_type, "nodes": nodes, "mean_us": us}
                   for nodes, host, int64, double in ((2, 10, 20, 30), (16, 40, 20, 25))
                   for variant, of_type, us in (("host-udp", "int64", host), ("nic-arrival", "int64", int64),
                                                ("host-udp", "double", host), ("nic-arrival", "double", double))])
        said = self.figures("reduce-latency", "--numbers").stdout
        self.assertIn("int64, engine, on arrival: up to 2.00 times less than the host, at 16; slower at 2", said)
        self.assertIn("double, engine, on arrival: up to 1.60 times less than the host, at 16; slower at 2", said)

    def test_ranks_that_have_it_at_different_times_are_compared(self):
        self.keep("multicast-5ms", [{"algorithm": algorithm, "nodes": nodes, "median_us": last,
                                     "rank_us": [0, first, *[middle] * (nodes - 3), last]}
                                    for nodes in (4, 116)
                                    for algorithm, first, middle, last in (("mpich:multicast", 5000, 5000, 6000),
                                                                           ("openmpi", 5000, 10000, 20000 + nodes))])
        said = self.figures("multicast-5ms", "--numbers").stdout
        self.assertIn("Open MPI's own, 116 nodes: the first rank has it 75% sooner than the last, none is more than "
                      "101% off the median", said)
        self.assertIn("116 nodes: multicast takes 70% less time than Open MPI's own", said)

    def test_the_same_rows_give_the_same_chart(self):
        python = pythons()
        if python is None:
            self.skipTest("matplotlib is not installed")
        self.keep_chain()
        drawn = self.folder / "drawn" / "reduce-chain.svg"
        charts = []
        for _ in range(2):
            self.figures("reduce-chain", python=python)
            charts.append(drawn.read_bytes())
        self.assertEqual(charts[0], charts[1])
        text = charts[0].decode()
        self.assertNotIn("<dc:date>", text)
        self.assertRegex(text, r"<text [^>]*>engine, in order</text>")
        self.assertIn("prefers-color-scheme:dark", text)

    def test_every_chart_of_the_page_has_its_command_and_is_there(self):
        page = (ROOT / "docs/paper-figures.md").read_text(encoding="utf-8")
        charts = re.findall(r"\]\(figures/([\w-]+)\.svg\)", page)
        self.assertGreater(len(charts), 5)
        for chart in charts:
            self.assertTrue((ROOT / f"docs/figures/{chart}.svg").exists(), chart)
            self.assertIn(f"scripts/papers/figures.py {chart}\n", page)


if __name__ == "__main__":
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    main()
