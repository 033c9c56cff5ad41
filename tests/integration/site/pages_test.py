# SPDX-License-Identifier: BSD-3-Clause
"""Runs the shell blocks (```sh) of the pages that a new user reads first, in the order in which they stand, as somebody
does who sits in a checkout and has hocket installed and MPICH on PATH. A block must end with 0; where a block of text
follows, its lines must come out in that order, whatever their numbers are. In a comment above it a block may say

    <!-- not run: REASON -->           it is skipped, and the reason printed
    <!-- long: REASON -->              it runs in the long tier only
    <!-- needs PATTERN -->             it runs where the checkout has such a file
    <!-- long, needs PATTERN -->       both

usage: pages_test.py BUILD_DIRECTORY"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
PAGES = ("index", "get-it", "first-run", "is-it-faster", "when-it-is-not")
LIMIT_S = 300  # generous: ends what hangs
sys.path.insert(0, str(ROOT / "scripts/site"))
import links  # noqa: E402 (which the path is for)

BUILD = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / "build/release").resolve()

_COMMENT = re.compile(r"<!-- (not run:|long:|needs|long, needs) +([^>]*?) *-->")


class Block:
    def __init__(self, line, script, comment, expected):
        self.line, self.script, self.expected, self.word, self.rest = line, script, expected, None, None
        if comment:
            said = _COMMENT.fullmatch(comment)
            if said is None:
                raise ValueError(f"line {line}: the comment `{comment}`; pages_test.py says what there may be")
            self.word, self.rest = said.groups()

    def reason_to_skip(self, root=ROOT):
        """None: it runs."""
        word = self.word or ""
        if word == "not run:":
            return self.rest
        if word.startswith("long") and not os.environ.get("LONG_TESTS"):
            return self.rest if word == "long:" else "only in the long tier"
        if word.endswith("needs") and not list(root.glob(self.rest)):
            return f"there is no {self.rest}"
        return None


def blocks(text):
    """Those marked `sh`, each with the comment above it and the block of text below it."""
    fenced = {line: (kind, content) for line, kind, content in links.blocks(text)}
    found, lines = [], text.split("\n")
    for line, (kind, script) in fenced.items():
        if kind == "sh":
            above = "\n".join(lines[:line - 1]).rstrip().rsplit("\n", 1)[-1]
            kind_below, below = fenced.get(line + script.count("\n") + 3, ("", None))
            found.append(Block(line, script, above if above.startswith("<!--") else None,
                               below if kind_below == "text" else None))
    return found


def pattern_of(line):
    """A line of expected output as a pattern: numbers, blanks and `...` stand for any."""
    parts = re.split(r"(\d[\d.,]*|\s+|\.\.\.)", line.strip())
    return "".join({True: r"\d[\d.,]*", False: re.escape(part)}[part[:1].isdigit()] if part.strip() and part != "..."
                   else (".*" if part == "..." else r"\s+" if part else "") for part in parts)


def first_missing(expected, output):
    """The first expected line that the output doesn't have, behind those before it; None if it has all."""
    lines = iter(output.split("\n"))
    for wanted in expected.split("\n"):
        pattern = re.compile(pattern_of(wanted))
        if wanted.strip() not in ("", "...") and not any(pattern.fullmatch(line.strip()) for line in lines):
            return wanted
    return None


class Scratch:
    """A folder that looks like the checkout, and a home beside it."""

    def __init__(self, folder, prefix):
        self.folder, self.home, self.prefix = folder / "checkout", folder / "home", prefix
        (self.folder / "build").mkdir(parents=True)
        self.home.mkdir()
        (self.folder / "build/release").symlink_to(BUILD)
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in {path.split("/")[0] for path in listed.split("\n") if path} | {"dist"}:
            if (ROOT / name).exists():
                (self.folder / name).symlink_to(ROOT / name)
        shutil.copy(prefix / "your_program", self.folder)
        self.environment = self._environment()

    def _environment(self):
        clean = {name: value for name, value in os.environ.items()
                 if not name.startswith(("HOCKET_", "MPIR_CVAR")) and name != "LD_PRELOAD"}
        library = next(self.prefix.rglob("libhocket.so")).parent
        return clean | {
            "HOME": str(self.home), "PKG_CONFIG_PATH": f"{library}/pkgconfig", "LD_LIBRARY_PATH": str(library),
            "PYTHONPATH": str(ROOT / "python"),  # the package, as if it were installed
            "PATH": f"{self.prefix}/bin:{ROOT}/.venv/mpich/bin:{clean['PATH']}"}

    def run(self, script):
        """(exit status, output); nothing that it starts outlives it."""
        with subprocess.Popen(["bash", "-euo", "pipefail", "-c", script], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              start_new_session=True) as process:
            try:
                output, _ = process.communicate(timeout=LIMIT_S)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        return process.returncode, output


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.prefix = cls.folder / "installed"
        subprocess.run(["cmake", "--install", str(BUILD), "--prefix", str(cls.prefix)], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run([ROOT / ".venv/mpich/bin/mpicc", "-O2", HERE / "your_program.c", "-o",
                        cls.prefix / "your_program"], check=True)

    def run_page(self, page):
        text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
        found = blocks(text)
        self.assertEqual(len(found), text.count("\n```sh\n"), f"docs/{page}.md: a block within another")
        scratch = Scratch(self.folder / page, self.prefix)
        for block in found:
            place = f"docs/{page}.md:{block.line}"
            reason = block.reason_to_skip()
            if reason is not None:
                print(f"{place}: not run: {reason}")
                continue
            begin = time.monotonic()
            # Whose checkout it is would be built anew, in the folder's place.
            self.assertNotRegex(block.script, r"(?m)^\./dev ", f"{place}: is for the checkout itself")
            status, output = scratch.run(block.script)
            print(f"{place}: {time.monotonic() - begin:.1f} s")
            self.assertEqual(status, 0, f"{place}:\n{block.script}\n{output}")
            missing = first_missing(block.expected or "", output)
            self.assertIsNone(missing, f"{place}: no `{missing}` in\n{output}")


for _page in PAGES:
    setattr(Pages, "test_" + _page.replace("-", "_"), lambda self, page=_page: self.run_page(page))


class Runner(unittest.TestCase):
    """What the runner makes of a page."""

    def test_blocks_and_what_they_say_of_themselves(self):
        page = ("a\n\n```sh\necho 1\n```\n\n```text\n2\n```\n\n<!-- not run: it asks -->\n```sh\nb\n```\n\n"
                "<!-- needs no/such-*.whl -->\n\n```sh\nc\n```\n")
        one, two, three = blocks(page)
        self.assertEqual((one.script, one.expected, one.reason_to_skip(), one.line), ("echo 1\n", "2\n", None, 3))
        self.assertEqual(two.reason_to_skip(), "it asks")
        self.assertEqual(three.reason_to_skip(), "there is no no/such-*.whl")
        self.assertRaises(ValueError, blocks, "<!-- not run -->\n```sh\nb\n```\n")

    def test_output_is_compared_but_for_numbers(self):
        self.assertIsNone(first_missing("a 1.5 us\n...\nc  d ...\n", "a 22 us\nb\nc d e\n"))
        self.assertEqual(first_missing("a 1\nb 2\n", "b 2\na 1\n"), "b 2")
        self.assertEqual(first_missing("a few\n", "a lot\n"), "a few")


if __name__ == "__main__":
    unittest.main(verbosity=1)
