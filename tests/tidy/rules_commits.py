# SPDX-License-Identifier: BSD-3-Clause
"""The messages of commits, from a fixed one on; merges aside. Where the history isn't there, a note says so."""

import os
import subprocess

import commit_message
from tree import Finding

# The last commit of which nothing was asked.
BASE = "96a7b91"


def _git(tree, *arguments):
    """What git prints, or None where it fails. The variables that git gives its hooks name another repository."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        ran = subprocess.run(["git", "-C", str(tree.root), *arguments], capture_output=True, check=False,
                             env=environment)
    except FileNotFoundError:
        return None
    return ran.stdout.decode(errors="replace") if ran.returncode == 0 else None


def check_commits(tree):
    if not (tree.root / ".git").exists():
        tree.notes.append("messages of commits: skipped, there is no history here")
        return
    if _git(tree, "merge-base", "--is-ancestor", BASE, "HEAD") is None:
        tree.notes.append(f"messages of commits: skipped, the history here does not go back to {BASE}")
        return
    log = _git(tree, "log", "--no-merges", "-z", "--format=%h%n%B", f"{BASE}..HEAD") or ""
    for entry in log.split("\0"):
        commit, _, message = entry.partition("\n")
        if commit:
            for problem in commit_message.problems(message):
                yield Finding("commit-message", commit, 1, problem)
