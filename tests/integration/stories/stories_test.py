# SPDX-License-Identifier: BSD-3-Clause
"""scripts/stories/stories.py on pages made up for it: what it runs, writes, finds wrong, and cleans up."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = """# Made up

<!-- times -->
<!-- end -->

## 1. Prepare

```sh
mkdir inner && cd inner
export word=hello
```

## 2. Compare

```sh compare
echo "result 42 seconds 2.5"       # alone
echo "result {other} seconds 1.5"  # hocket
```

<!-- numbers -->
old
<!-- end -->

```sh
{command}
```

```text
old
```

```sh finally
touch {witness}
```
"""


class Stories(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hocket-stories-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.page = self.folder / f"made-up-{os.getpid()}.md"
        self.witness = self.folder / "witness"

    def write(self, page=PAGE, **words):
        words = {"other": "42", "command": 'echo "$word from $(basename "$PWD")"', "witness": self.witness, **words}
        self.page.write_text(page.format(**words), encoding="utf-8")

    def run_page(self, *options):
        return self.run_stories(self.page.stem, *options)

    def run_stories(self, *words):
        return subprocess.run([sys.executable, "-B", ROOT / "scripts/stories/stories.py", *words], text=True,
                              env={**os.environ, "HOCKET_STORIES": str(self.folder)}, capture_output=True, check=False)

    def refused(self, sentence, *options):
        done = self.run_page(*options)
        self.assertNotIn(done.returncode, (0, 77), done.stdout + done.stderr)
        self.assertIn(sentence, done.stderr)
        self.assertFalse((ROOT / "build/stories" / self.page.stem).exists())

    def test_blocks_share_a_shell_and_their_output_is_written(self):
        self.write()
        done = self.run_page("--rounds", "3", "--write")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = self.page.read_text(encoding="utf-8")
        self.assertIn("```text\nhello from inner\n```", text)
        self.assertNotIn("old", text)
        self.assertRegex(text, r"\| alone \| .* \| 2.50 \(2.50 to 2.50\) \| .*, 1.67 \|")
        self.assertRegex(text, r"\| step \| 1. Prepare \| 2. Compare \| all \|")
        self.assertIn("in turns: 3; medians", text)
        self.assertTrue(self.witness.exists())
        self.assertFalse((ROOT / "build/stories" / self.page.stem).exists())
        # A second time it replaces what it has written.
        self.assertEqual(self.run_page("--write").returncode, 0)
        self.assertEqual(self.page.read_text(encoding="utf-8").count("| alone |"), 1)

    def test_a_page_stays_as_it_is_unless_asked(self):
        self.write()
        before = self.page.read_text(encoding="utf-8")
        self.assertEqual(self.run_page().returncode, 0)
        self.assertEqual(self.page.read_text(encoding="utf-8"), before)

    def test_a_command_that_fails_is_told_and_cleaned_up_behind(self):
        self.write(command="echo words; false | cat")
        self.refused("'2. Compare': exit status 1", "--write")
        self.assertTrue(self.witness.exists())

    def test_results_that_differ_are_an_error(self):
        self.write(other="43")
        self.refused("results differ: result 42; result 43")

    def test_a_side_that_takes_too_long_is_given_up(self):
        self.write(PAGE.replace('echo "result 42 seconds 2.5"', "sleep 60; true"))
        done = self.run_page("--limit", "0.5", "--rounds", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| alone | more than 0.50 | | |", done.stdout)

    def test_pages_that_cannot_be_run_are_refused(self):
        for page, sentence in (("# Nothing\n", "nothing to type"),
                               ("```sh\ntrue\n```\n", "before the first step"),
                               ("## 1. A\n```sh\ntrue\n", "there is no '```' behind it"),
                               ("## 1. A\n```sh sometimes\ntrue\n```\n", "not 'sometimes'"),
                               ("## 1. A\n```sh compare\ntrue\n```\n", "has no name behind it"),
                               ("## 1. A\n```sh compare\ntrue  # a\n```\n", "none is called 'hocket'"),
                               ("## 1. A\n```text\n```\n", "belongs to no ```sh block"),
                               ("## 1. A\n```sh\ntrue\n```\n" + "\n" * 100, "100 at most")):
            with self.subTest(sentence):
                self.page.write_text(page, encoding="utf-8")
                self.refused(sentence)

    def test_unknown_stories_are_refused_with_those_there_are(self):
        self.write()
        done = self.run_stories("nonsense")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"there is no story 'nonsense': {self.page.stem}", done.stderr)


unittest.main()
