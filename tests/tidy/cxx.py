# SPDX-License-Identifier: BSD-3-Clause
"""Classes and functions of a C or C++ text, as far as braces, words and clang-format's blanks tell."""

import dataclasses
import re

_MACRO = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_LABEL = re.compile(r"^\s*(?:public|protected|private)\s*:(?!:)")
_TEMPLATE = re.compile(r"\btemplate\s*(?=<)")
_ATTRIBUTE = re.compile(r"\[\[[^\[\]]*\]\]|\b(?:__attribute__|alignas)\s*\(\([^()]*(?:\([^()]*\))*[^()]*\)\)|"
                        r"\balignas\s*\([^()]*(?:\([^()]*\))*[^()]*\)")
_CLASS = re.compile(r"\b(class|struct|union)\b\s*([\w:]*)[^()]*$")
_NO_MEMBER = re.compile(r"\s*(?:using|typedef|friend|static_assert|enum|extern)\b")
_FORWARD = re.compile(r"\s*(?:class|struct|union|namespace)\s+[\w:]+\s*$")
_POINTER = re.compile(r"\(\s*\*+\s*\w*\s*(?:\[[^\]]*\])?\s*\)\s*\(")  # to a function
_NAME = re.compile(r"(operator\s*(?:\(\)|[^\s\w(]+|[\w: *&]+)|~?\w+(?:::~?\w+)*)\s*\($")


@dataclasses.dataclass
class Function:
    name: str  # as it is written: with the class's name before it where it stands outside
    scope: tuple  # of namespaces and classes around it
    line: int
    is_virtual: bool
    is_static: bool
    is_const: bool
    is_defined: bool  # with a body, or by `= default`, `= delete`
    is_written: bool = True  # not by `= default`, `= delete`
    begin: int = 0  # the places of its text
    end: int = 0


@dataclasses.dataclass
class Class:
    name: str
    line: int
    scope: tuple
    members: list = dataclasses.field(default_factory=list)  # data of each object: (type, name)
    functions: list = dataclasses.field(default_factory=list)
    is_derived: bool = False
    has_labels: bool = False


@dataclasses.dataclass
class Outline:
    classes: list
    functions: list  # all, those of classes included


def without_macros(code):
    """The same text, line for line and column for column, with nothing left in lines of the preprocessor."""
    return _MACRO.sub(lambda macro: re.sub(r"[^\n]", " ", macro.group(0)), code)


def _without_angles(text):
    """Without template arguments; `operator<` and its like stay."""
    text = re.sub(r"operator\s*(?:<=>|<<|>>|<=|>=|<|>|->\*?)", "operator!", text)
    text = text.replace("->", "  ")
    while True:
        shorter = re.sub(r"<[^<>;]*>", "", text)
        if shorter == text:
            return text
        text = shorter


def _top_level(text):
    """What is not within brackets, with `(` for those that held something."""
    kept, depth = [], 0
    for character in text:
        if character in "([{":
            if depth == 0:
                kept.append(character)
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif depth == 0:
            kept.append(character)
    return "".join(kept)


def _before_initialiser(top):
    return re.split(r"(?<![=!<>])=(?!=)", re.sub(r"operator\s*[^\s\w(]+", "operator_", top))[0]


def _has_initialiser(top):
    return "=" in top and len(_before_initialiser(top)) < len(re.sub(r"operator\s*[^\s\w(]+", "operator_", top))


class _Parser:
    def __init__(self, code):
        self.code = without_macros(code)
        self.outline = Outline([], [])
        self.stack = []  # (name, Class or None)

    def parse(self):
        position = start = 0
        special = re.compile(r"[;{}(]")
        while True:
            match = special.search(self.code, position)
            if match is None:
                return self.outline
            position = match.end()
            character = match.group(0)
            if character == "(":
                position = self._past(match.start())
            elif character == ";":
                self._statement(start, match.start())
                start = position
            elif character == "}":
                self._labels(start)
                if self.stack:
                    self.stack.pop()
                start = position
            else:
                start, position = self._open(start, match.start())

    def _past(self, opening):
        """The place after the bracket that closes the one at `opening`."""
        pairs = {"(": ")", "{": "}", "[": "]"}
        kinds = self.code[opening] + pairs[self.code[opening]]
        depth = 0
        for match in re.compile("[" + re.escape(kinds) + "]").finditer(self.code, opening):
            depth += 1 if match.group(0) == kinds[0] else -1
            if depth == 0:
                return match.end()
        return len(self.code)

    def _open(self, start, brace):
        """A brace: what it opens, and where the statement after it, or the rest of this one, begins."""
        head = self._head(start, brace)
        top = _top_level(_without_angles(head))
        if re.match(r"\s*(?:inline\s+)?namespace\b|\s*extern\s*$", top):
            self.stack.append((head.split("namespace")[-1].strip(), None))
            return brace + 1, brace + 1
        if re.search(r"\benum\b", top) and "(" not in top:
            return start, self._past(brace)
        kind = _CLASS.search(top)
        if kind and not _has_initialiser(top):
            self._class(kind, top, start)
            return brace + 1, brace + 1
        after = self._past(brace)
        is_initialiser = not self.code[brace - 1].isspace() or _has_initialiser(top) or "(" not in top
        if is_initialiser:
            return start, after
        self._function(start, brace, after, True)
        return after, after

    def _head(self, start, end):
        head = self.code[start:end]
        while _LABEL.match(head):
            head = _LABEL.sub("", head, count=1)
        return _ATTRIBUTE.sub(" ", _TEMPLATE.sub(" ", head))

    def _class(self, kind, top, start):
        made = Class(kind.group(2) or "?", self._line(start), self._scope(), is_derived=" : " in top + " ")
        self.outline.classes.append(made)
        self._labels(start)
        self.stack.append((made.name, made))

    def _labels(self, start):
        if self.stack and self.stack[-1][1] and _LABEL.match(self.code[start:]):
            self.stack[-1][1].has_labels = True

    def _scope(self):
        return tuple(name for name, _ in self.stack)

    def _line(self, start):
        while start < len(self.code) and self.code[start].isspace():
            start += 1
        return self.code.count("\n", 0, start) + 1

    def _statement(self, start, end):
        self._labels(start)
        head = self._head(start, end)
        plain = _without_angles(head)
        top = _top_level(plain).strip()
        if not top or _NO_MEMBER.match(top) or _FORWARD.match(top):
            return
        if "(" in _before_initialiser(top) and not _POINTER.search(plain.split("=")[0]):
            is_written = not re.search(r"=\s*(?:default|delete)\s*$", top)
            self._function(start, end, end, not is_written, is_written)
        elif self.stack and self.stack[-1][1] and not re.match(r"(?:inline\s+)?(?:static|constexpr)\b", top):
            for part in top.split(","):
                names = re.findall(r"\w+", re.split(r"[={(\[]|(?<!:):(?!:)", part)[0]) or ["?"]
                self.stack[-1][1].members.append((" ".join(head.split()), names[-1]))

    def _function(self, start, end, after, is_defined, is_written=True):
        plain = _without_angles(self._head(start, end))
        opening = plain.find("(")
        if re.search(r"operator\s*\($", plain[:opening + 1]):
            opening = plain.find("(", opening + 1)
        name = _NAME.search(plain[:opening + 1])
        if not name:
            return
        after_name = re.findall(r"\w+", _top_level(plain[name.end() - 1:]).split(":")[0])
        words = re.findall(r"\w+", plain[:name.start()]) + after_name
        is_virtual = bool({"virtual", "override", "final"} & set(words))
        made = Function(" ".join(name.group(1).split()), self._scope(), self._line(start), is_virtual,
                        "static" in words, "const" in after_name, is_defined, is_written, start, after)
        self.outline.functions.append(made)
        if self.stack and self.stack[-1][1]:
            self.stack[-1][1].functions.append(made)


def outline(tree, path):
    if path not in tree.outlines:
        tree.outlines[path] = _Parser(tree.code(path)).parse()
    return tree.outlines[path]
