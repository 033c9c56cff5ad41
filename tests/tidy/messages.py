# SPDX-License-Identifier: BSD-3-Clause
"""Sentences that a C++ text spells: literals with what stands beside them, joined as the program joins them."""

import bisect
import dataclasses
import re

_TOKENS = re.compile(
    r"//[^\n]*|/\*.*?\*/|(?m:^[ \t]*\#[ \t]*(?:include|if|elif|endif)\b[^\n]*)"
    r'|R"(?P<fence>\w*)\((?P<raw>.*?)\)(?P=fence)"'
    r'|"(?P<literal>(?:\\.|[^"\\\n])*)"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'"
    r"|(?P<name>[A-Za-z_]\w*)|[=!<>]=|(?P<mark><<|\+=|->|::|[(){}\[\];,?:+=])|\d[\w'.]*|\S", re.DOTALL)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|.)", re.DOTALL)
_CONVERSION = re.compile(r"%(?:%|[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|j|t)?[diouxXeEfgGcsp]|[-+#0-9.*]*)")
_WORD = re.compile(r"[^\w\s]*[A-Za-z]+(?:['-][A-Za-z]+)*[^\w\s]*")
_FORMATS = re.compile(r"\w*printf|HOCKET_LOG_\w+")
# Words before a { that opens a block, not a list; before a bracket that holds no arguments; before a scope's name.
_BEFORE_BLOCKS = (")", "const", "override", "else", "noexcept", "do", "try", "final", "mutable")
_NO_CALLS = ("return", "namespace", "else", "do", "try", "const", "override", "noexcept", "final", "mutable")
_SCOPES = ("namespace", "class", "struct", "enum", "union")
_STRINGS = ("string", "string_view")
VARIES = "…"


@dataclasses.dataclass
class Sentence:
    position: int  # in its text
    pieces: list  # literals, and None for what the program fills in
    callees: tuple  # the functions, or constructors, whose arguments it is part of, outermost first
    target: str  # what is initialised or assigned by it, "" where nothing is
    function: str  # whose body it stands in, "" outside of all

    def text(self):
        """As it is printed, with one blank between words and … for what varies."""
        filled = "".join(VARIES if piece is None else piece for piece in self.pieces)
        return " ".join(re.sub(f"{VARIES}+", VARIES, filled).split())


def count_words(text):
    """Of letters only: names in code, paths and settings are none."""
    return sum(1 for word in text.split() if _WORD.fullmatch(word))


def _decoded(literal):
    plain = {"n": "\n", "t": "\t", "r": "\n"}
    return _ESCAPE.sub(lambda escape: plain.get(escape.group(1), escape.group(1)[-1]), literal)


@dataclasses.dataclass
class _Frame:
    """What stands between two brackets, or in a text outside all."""
    callee: str
    pieces: list = dataclasses.field(default_factory=list)
    position: int = -1
    is_joined: bool = False  # a + has come since the last piece
    name: str = ""  # the last that has come
    target: str = ""
    called: str = ""  # what the last round brackets were the arguments of
    function: str = ""

    def add(self, piece, position):
        if piece is not None and self.position < 0:
            self.position = position
        if piece is not None or self.is_joined or not self.pieces or self.pieces[-1] is not None:
            self.pieces.append(piece)
        self.is_joined = False


class _Reader:
    def __init__(self):
        self.frames = [_Frame("")]
        self.found = []

    def read(self, text):
        last = before = ""
        for token in _TOKENS.finditer(text):
            written = token.group(0)
            if written.startswith(("//", "/*")) or written.lstrip().startswith("#"):
                continue
            frame = self.frames[-1]
            if token.group("raw") is not None:
                frame.add(token.group("raw"), token.start())
            elif token.group("literal") is not None:
                frame.add(_decoded(token.group("literal")), token.start())
            elif token.group("mark"):
                self._mark(written, last, before)
            elif written == "return":
                self._flush(frame)
                frame.target = ""
            else:
                frame.name = written if token.group("name") else frame.name
                frame.add(None, -1)
            before, last = last, written
        return self.found

    def _mark(self, mark, last, before):
        frame = self.frames[-1]
        if mark in "([{":
            is_called = mark != "[" and re.fullmatch(r"[A-Za-z]\w*", last) and last not in _NO_CALLS
            opened = _Frame(last if is_called and before not in _SCOPES else "", function=frame.function)
            if mark == "{" and last in _BEFORE_BLOCKS:
                self._flush(frame)
                opened.function = frame.function or frame.called
            self.frames.append(opened)
        elif mark in ")]}":
            self._close(mark)
        elif mark in ("+", "<<"):
            frame.is_joined = True
        elif mark in ("->", "::"):
            frame.add(None, -1)
        else:
            self._flush(frame)
            if mark in ("=", "+="):
                frame.target = frame.name
            elif mark == ";":
                frame.target = ""

    def _close(self, mark):
        inner = self.frames[-1]
        if len(self.frames) == 1:
            return
        if mark == ")" and inner.callee in _STRINGS and inner.pieces and None not in inner.pieces:
            # std::string("a") + b
            self.frames.pop()
            outer = self.frames[-1]
            if outer.pieces and outer.pieces[-1] is None:
                outer.pieces.pop()
            outer.add("".join(inner.pieces), inner.position)
            return
        self._flush(inner)
        self.frames.pop()
        outer = self.frames[-1]
        if mark == ")" and not outer.function:
            outer.called = inner.callee
        if mark == "}" and not outer.pieces:
            return
        outer.add(None, -1)

    def _flush(self, frame):
        if any(piece is not None for piece in frame.pieces):
            callees = tuple(one.callee for one in self.frames if one.callee)
            target = next((one.target for one in reversed(self.frames) if one.target), "")
            pieces = frame.pieces
            if callees and _FORMATS.fullmatch(callees[-1]):
                pieces = _format_pieces(pieces)
            self.found.append(Sentence(frame.position, pieces, callees, target, frame.function))
        frame.pieces, frame.position, frame.is_joined = [], -1, False


def _format_pieces(pieces):
    """Of a printf format, with what it converts as what varies."""
    result = []
    for piece in pieces:
        if piece is None:
            result.append(None)
            continue
        past = 0
        for conversion in _CONVERSION.finditer(piece):
            kept = piece[past:conversion.start()] + ("%" if conversion.group(0) == "%%" else "")
            if conversion.group(0) == "%%" and result and isinstance(result[-1], str):
                result[-1] += kept
            else:
                result.append(kept)
            if conversion.group(0) != "%%":
                result.append(None)
            past = conversion.end()
        result.append(piece[past:])
    return result


def sentences(text):
    """Of a C or C++ text everything that is spelt as literals."""
    return _Reader().read(text)


def line_of(text):
    """From a position to its line."""
    starts = [0] + [newline.end() for newline in re.finditer("\n", text)]
    return lambda position: bisect.bisect_right(starts, position)
