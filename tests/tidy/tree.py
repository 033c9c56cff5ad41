# SPDX-License-Identifier: BSD-3-Clause
"""The files that the rules look at, and what a rule finds."""

import dataclasses
import io
import pathlib
import re
import subprocess
import tokenize

CXX_SUFFIXES = (".cc", ".c", ".h", ".inc")
# Programs whose name has no suffix that tells their language.
NAMED = ("CMakeLists.txt", "dev", "run", "commit-msg", "rules", "Containerfile")
# Folders that hold what was built or installed, never source.
IGNORED_FOLDERS = {".git", ".venv", "build", "dist", "install", "__pycache__"}


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
        self._code = {}
        self.notes = []  # what rules could not look at
        self.outlines = {}  # cxx.py's
        self.paths = sorted(self._list())
        self._known = set(self.paths)
        self._folders = {}
        for parts in sorted({pathlib.PurePath(path).parts[:2] for path in self.paths if path.count("/") > 1}):
            self._folders.setdefault(parts[0], []).append("/".join(parts))

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

    def code(self, path):
        """Of C and C++: the text without comments and literals."""
        if path not in self._code:
            self._code[path] = blank_comments_and_strings(self.text(path))
        return self._code[path]

    def exists(self, path):
        return path in self._known

    def folders_of(self, folder):
        """The folders in one of the first level."""
        return self._folders.get(folder, ())

    def cxx(self):
        return [path for path in self.paths if path.endswith(CXX_SUFFIXES)]

    def sources(self):
        """Everything that somebody wrote as a program."""
        return [path for path in self.paths
                if path.endswith(CXX_SUFFIXES + (".py", ".sh", ".cmake", ".f90", ".f", ".def", ".pml", ".yaml", ".yml"))
                or pathlib.PurePath(path).name in NAMED]


# A quote after a digit separates digits.
_TOKENS = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"\w*\(.*?\)\w*"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
_HASH = re.compile(r"(?:(?<=\s)|^)#[^\n]*", re.MULTILINE)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def blank_comments_and_strings(text):
    """The same text, line for line and column for column, with nothing left in comments and literals."""
    return _TOKENS.sub(lambda token: _blank(token.group(0)), text)


def split_comments(path, text):
    """The same text with its comments blanked, and (line, comment) of each. Of what has none, the text."""
    if path.endswith(CXX_SUFFIXES + (".hpp",)):
        found = [token.span() for token in _TOKENS.finditer(text) if token.group(0).startswith("/")]
    elif path.endswith(".py"):
        found = list(_python_comments(text))
    elif path.endswith((".sh", ".cmake", ".yaml", ".yml")) or pathlib.PurePath(path).name in NAMED:
        found = [token.span() for token in _HASH.finditer(text)]
    else:
        return text, []
    kept, comments, past, line = [], [], 0, 1
    for begin, end in found:
        line += text.count("\n", past, begin)
        kept += [text[past:begin], _blank(text[begin:end])]
        comments.append((line, text[begin:end]))
        line += text.count("\n", begin, end)
        past = end
    return "".join(kept + [text[past:]]), comments


def _python_comments(text):
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]
