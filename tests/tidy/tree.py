# SPDX-License-Identifier: BSD-3-Clause
"""The files that the rules look at, and what a rule finds."""

import dataclasses
import pathlib
import re
import subprocess

CXX_SUFFIXES = (".cc", ".c", ".h", ".inc")
# Folders that hold what was built or installed, never source.
IGNORED_FOLDERS = {".git", ".venv", "build", "install", "__pycache__"}


@dataclasses.dataclass(frozen=True)
class Finding:
    rule: str
    path: str
    line: int
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message} [{self.rule}]"


class Tree:
    """A source tree: what git knows or would add; every file where there is no git."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self._texts = {}
        self.paths = sorted(self._list())
        self._known = set(self.paths)

    def _list(self):
        listed = subprocess.run(
            ["git", "-C", str(self.root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True, check=False)
        if listed.returncode == 0 and (self.root / ".git").exists():
            names = [name for name in listed.stdout.decode().split("\0") if name]
        else:
            names = [str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_file()]
        return [name for name in names
                if not IGNORED_FOLDERS & set(pathlib.PurePath(name).parts) and (self.root / name).is_file()]

    def text(self, path):
        if path not in self._texts:
            self._texts[path] = (self.root / path).read_text(encoding="utf-8", errors="replace")
        return self._texts[path]

    def lines(self, path):
        return self.text(path).splitlines()

    def exists(self, path):
        return path in self._known

    def cxx(self):
        return [path for path in self.paths if path.endswith(CXX_SUFFIXES)]

    def sources(self):
        """Everything that somebody wrote as a program."""
        return [path for path in self.paths
                if path.endswith(CXX_SUFFIXES + (".py", ".sh", ".cmake", ".f90", ".f", ".def", ".pml"))
                or pathlib.PurePath(path).name in ("CMakeLists.txt", "dev", "run")]


_TOKENS = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"\w*\(.*?\)\w*"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def blank_comments_and_strings(text):
    """The same text, line for line and column for column, with nothing left in comments and literals."""

    def blank(match):
        token = match.group(0)
        if token.startswith("'") and text[match.start() - 1:match.start()].isalnum():
            return token  # a digit separator, not a character
        return re.sub(r"[^\n]", " ", token)

    return _TOKENS.sub(blank, text)
