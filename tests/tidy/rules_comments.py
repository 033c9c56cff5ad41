# SPDX-License-Identifier: BSD-3-Clause
"""What comments name exists: identifiers, settings and files of this tree. What looks like code: snake_case, CamelCase,
kConstant, name(), HOCKET_NAME. Words of capitals and those that begin with MPI_ are MPI's, the C library's or the
kernel's, and not looked at. And each header says at its head which threads may use it."""

import pathlib
import re

import cxx
import rules_project
from tree import Finding, split_comments

_NAME = re.compile(r"\b(?:[a-z][a-z0-9]*(?:_[a-z0-9]+)+_?|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|k[A-Z][a-z]\w*|"
                   r"HOCKET_[A-Z]\w*|[a-z]\w*(?=\(\)))(?![\w*])")
# Not of this tree: what has its section of the manual, select(2); a `struct` of the kernel's, as C++ leaves the word
# out; settings of the kernel's, net.core.rmem_max; a letter with an index, log_k.
_MANUAL = re.compile(r"\([1-9]\)")
_OF_KERNEL = re.compile(r"(?:\bstruct |\w\.\w+\.)$")
_INDEXED = re.compile(r"(?:log|[a-z])_[a-z0-9]+")
# People and what they have named.
NAMES_OF_OTHERS = {"McKellar", "NaNs", "SplitMix64"}

_PATH = re.compile(r"(?<![\w./<:$}-])[\w.-]+(?:/[\w.-]+)+|"
                   r"(?<![\w./<:$}>*-])[\w-]+\.(?:cc|h|hpp|py|sh|def|pml)\b(?![\w(])")
_PLACEHOLDER = re.compile(r"[A-Z]{2,}")  # scripts/requirements/NAME.txt
_NEXT_IS_PATTERN = re.compile(r"/?[<*{$]")


class _Known:
    def __init__(self, tree):
        self.names, self.paths, self.folders, self.comments = set(), set(), set(), {}
        for path in tree.paths:
            pure = pathlib.PurePath(path)
            self.folders.update(str(folder) for folder in pure.parents if str(folder) != ".")
            self.names.update(re.findall(r"\w+", path))
            if pure.suffix in (".md", ".svg", ".json", ".png"):
                continue
            code, self.comments[path] = split_comments(path, tree.text(path))
            self.names.update(re.findall(r"\w+", code))
            self.paths.update(re.findall(r'[<"]([\w./-]+\.\w+)[>"]', code))  # headers of others, too
            self.paths.update(re.findall(r"[\w-]+\.\w+", code))
        self.names.update(f"HOCKET_{setting}" for _, _, setting in rules_project.collectives(tree))
        for path in [*tree.paths, *self.folders]:
            parts = path.split("/")
            self.paths.update("/".join(parts[begin:]) for begin in range(len(parts)))
        self.first = {folder.rsplit("/", 1)[-1] for folder in self.folders if folder.count("/") < 3}

    def has_path(self, path):
        """Whether a file, a folder or, as commands have it, a file without its suffix is called so."""
        return any(path + suffix in self.paths for suffix in ("", ".h", ".cc", ".c", ".py", ".sh"))


def _unknown_names(known, comment):
    for match in _NAME.finditer(comment):
        name = match.group(0)
        is_others = (_MANUAL.match(comment, match.end()) or _OF_KERNEL.search(comment[:match.start()])
                     or _INDEXED.fullmatch(name) or name in NAMES_OF_OTHERS)
        if not is_others and name not in known.names:
            yield match.start(), name


def _unknown_paths(known, comment):
    for match in _PATH.finditer(comment):
        path = match.group(0).rstrip("./")
        if _PLACEHOLDER.search(path) or _NEXT_IS_PATTERN.match(comment, match.end()):
            continue
        is_ours = "/" not in path or path.split("/")[0] in known.first
        if is_ours and not known.has_path(path):
            yield match.start(), path


def check_comments(tree):
    known = _Known(tree)
    for path, comments in known.comments.items():
        for line, comment in comments:
            for at, name in [*_unknown_names(known, comment), *_unknown_paths(known, comment)]:
                yield Finding("comment-name", path, line + comment.count("\n", 0, at), f"there is no {name}")


# Where headers say which threads may use them.
_PRODUCT = ("src/", "interposer/", "tools/", "include/", "protocol/", "bpf/")
_HEAD = re.compile(r"(?:\s*(?://[^\n]*|/\*.*?\*/))*", re.DOTALL)


def check_thread_safety(tree):
    """But for headers that declare nothing, as those of macros."""
    for path in tree.paths:
        if not path.startswith(_PRODUCT) or not path.endswith((".h", ".hpp")):
            continue
        head = _HEAD.match(tree.text(path)).group(0)
        if "Thread safety: " not in head and cxx.without_macros(tree.code(path)).strip():
            yield Finding("thread-safety", path, 1, "the comment at the head must say `Thread safety: ...`")
