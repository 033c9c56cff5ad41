# SPDX-License-Identifier: BSD-3-Clause
"""Functions that a header declares and that nothing defines, or nothing uses but themselves. A textual index of names
in files that see the header: nothing is reported that is used; what shares its name with something used is missed."""

import collections
import re

from cxx import outline
from rules_includes import includes, resolve
from tree import CXX_SUFFIXES, Finding

PLACES = ("src/", "interposer/", "tools/")
_WORD = re.compile(r"[A-Za-z_]\w*")
# Words before a name with a bracket that is called nevertheless; after any other word a variable is made.
_BEFORE_CALLS = ("return", "else", "do", "case", "throw", "co_return", "co_yield", "co_await", "not", "and", "or")


def _last(name):
    return name.rsplit("::", 1)[-1]


def _is_call(code, begin, end):
    """Whether the word there can be a call of a member function, or the name of one: x.f(, f<T>(, &C::f."""
    before = code[max(0, begin - 40):begin].rstrip()
    if before.endswith("::"):
        return True
    if not code[end:end + 40].lstrip().startswith(("(", "<")):
        return False
    word = re.search(r"\w+$", before)
    return not word or word.group(0) in _BEFORE_CALLS


class _Index:
    """Over the whole tree: who defines a function, and where its name stands besides."""

    def __init__(self, tree):
        paths = [path for path in tree.paths if path.endswith(CXX_SUFFIXES + (".hpp", ".def"))]
        outlines = {path: outline(tree, path) for path in paths}
        self.classes = {_last(made.name) for found in outlines.values() for made in found.classes}
        self.functions = {path: found.functions for path, found in outlines.items()}
        self.defined = {(self.owner(each), _last(each.name)) for found in outlines.values() for each in found.functions
                        if each.is_defined}
        self.wanted = {_last(each.name) for path in paths if _is_looked_at(path) for each in self.functions[path]}
        self.uses, self.calls = collections.defaultdict(set), collections.defaultdict(set)  # name -> (path, who)
        for path in paths:
            self._add(path, tree.code(path))
        included = {path: {target for _, _, name in includes(tree, path) for target in resolve(tree, path, name)}
                    for path in paths}
        self._seers = collections.defaultdict(set)  # of each file, those that include it, themselves or by others
        for path in paths:
            for seen in _closure(path, included):
                self._seers[seen].add(path)

    def _add(self, path, code):
        """The uses of a file, each with the function around it, as (class or "", name), where that is of its name."""
        heads, around = {}, collections.defaultdict(list)
        for each in self.functions[path]:
            around[_last(each.name)].append(each)
        for word in _WORD.finditer(code):
            name, begin, end = word.group(0), *word.span()
            if name not in self.wanted:
                continue
            who = next((each for each in around[name] if each.begin <= begin < each.end), None)
            if who and heads.setdefault(who.begin, begin) == begin:
                continue  # its declaration
            use = (path, (self.owner(who), name) if who else None)
            if not code.startswith((".", ">"), begin - 1):
                self.uses[name].add(use)
            if _is_call(code, begin, end):
                self.calls[name].add(use)

    def owner(self, function):
        """The class whose member it is, or none."""
        around = [name for name in function.scope + tuple(function.name.split("::")[:-1]) if name]
        return _last(around[-1]) if around and _last(around[-1]) in self.classes else ""

    def is_used(self, function, path):
        """Whether there is a file that sees both it and a use; templates may come to see it after their own header."""
        itself = (self.owner(function), _last(function.name))
        is_member = itself[0] and not function.is_static
        return any(who != itself and self._seers[path] & self._seers[user]
                   for user, who in (self.calls if is_member else self.uses)[itself[1]])


def _closure(path, included):
    seen, ahead = set(), [path]
    while ahead:
        one = ahead.pop()
        if one not in seen:
            seen.add(one)
            ahead += included.get(one, ())
    return seen


def _is_looked_at(path):
    return path.endswith(".h") and path.startswith(PLACES)


def check_dead_declarations(tree):
    index = _Index(tree)
    for path, functions in index.functions.items():
        for function in functions if _is_looked_at(path) else []:
            name, owner = _last(function.name), index.owner(function)
            is_special = "operator" in name or name.lstrip("~") == owner or function.is_virtual or name.isupper()
            if is_special or not function.is_written:
                continue
            if not index.is_used(function, path):
                yield Finding("dead-declaration", path, function.line, f"nothing uses {name}")
            elif not function.is_defined and (owner, name) not in index.defined:
                yield Finding("dead-declaration", path, function.line, f"nothing defines {name}")
