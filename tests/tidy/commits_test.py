#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The rule about commit messages can fail: in a repository made for it, and as git's hook calls it."""

import contextlib
import io
import os
import pathlib
import subprocess
import tempfile
import unittest
import unittest.mock

import commit_message
import rules_commits
from tree import Tree


class CommitMessages(unittest.TestCase):
    def git(self, *arguments, message=None):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        ran = subprocess.run(["git", "-C", self.root, "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
                             input=message, capture_output=True, check=True, text=True, env=environment)
        return ran.stdout.strip()

    def found(self):
        tree = Tree(self.root)
        return [finding.message for finding in rules_commits.check_commits(tree)], tree.notes

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name

    def test_messages_after_the_base_are_checked(self):
        self.git("init", "-q", "-b", "main")
        self.git("commit", "-q", "--allow-empty", "-m", "long before " * 20)
        base = self.git("rev-parse", "HEAD")
        patch = unittest.mock.patch.object(rules_commits, "BASE", base)
        for message, expected in (
            ("x" * 72 + "\n\nBecause.\n", []), ("x" * 73 + "\n\nBecause.\n", ["first line has 73 columns"]),
            ("Do it.\n\nBecause.\n", ["full stop"]), ("Do it\nat once\n\nBecause.\n", ["second line"]),
            ("Do it\n", ["no body"]), ("Do it\n\nSigned-off-by: A <a@b>\n", ["no body"])):
            with self.subTest(message), patch:
                self.git("reset", "-q", base)
                self.git("commit", "-q", "--allow-empty", "--cleanup=verbatim", "-F", "-", message=message)
                found, notes = self.found()
                self.assertEqual(len(found), len(expected), found)
                for part, problem in zip(expected, found):
                    self.assertIn(part, problem)
                self.assertEqual(notes, [])
        with patch:  # the message of a merge is git's
            self.git("reset", "-q", base)
            self.git("commit", "-q", "--allow-empty", "-m", "Do it", "-m", "Because.")
            other = self.git("commit-tree", "HEAD^{tree}", "-p", base, "-m", "Do that", "-m", "Because.")
            self.git("merge", "-q", "--no-ff", "-m", "Merge", other)
            self.assertEqual(self.found(), ([], []))

    def test_missing_history_is_skipped_with_a_note(self):
        self.assertIn("no history", self.found()[1][0])
        self.git("init", "-q")
        self.assertIn("does not go back", self.found()[1][0])

    def test_comments_of_git_are_no_message(self):
        file = pathlib.Path(self.root) / "message"
        for text, status in (("Do it\n\nBecause.\n# On branch x.\n# --- >8 ---\ndiff\n", 0), ("Do it\n# On x\n", 1),
                             ("fixup! Do it\n", 0), ("\n# Nothing.\n", 0)):
            file.write_text(text, encoding="utf-8")
            with contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(commit_message.main([str(file)]), status, text)


if __name__ == "__main__":
    unittest.main()
