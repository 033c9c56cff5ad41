# SPDX-License-Identifier: BSD-3-Clause
"""The page of the C API, made of its headers: their sections, and in each what it declares, with the comment above
it."""

import re
import textwrap

COLUMNS = 84
# In the order of the page, and what is above the first section of each.
HEADERS = {"include/hocket/hocket.h": "Objects, errors and threads", "include/hocket/neighbourhoods.h": "Neighbours",
           "include/hocket/persistent.h": "Requests that are started again", "include/hocket/counters.h": "Counters"}
# What a program never writes.
_HIDDEN = re.compile(r"#(?:if\w*|endif|else|include|define HOCKET_API|define HOCKET_\w+_H)\b|extern \"C\" \{|\}$")
_SECTION = re.compile(r"/\* --- (?P<title>.*?) -{3,}(?P<rest>.*)\*/$", re.DOTALL)
_IN_TEXT = re.compile(r"`[^`]*`|\b(?:hocket|HOCKET)_\w+(?:\(\))?")


def comment_text(comment):
    """The lines of a comment without its marks."""
    lines = re.sub(r"^/\*+|\*/$", "", comment.strip()).split("\n")
    return [re.sub(r"^\s*(?:\*|//) ?", "", line).rstrip() if number or line.startswith("//") else line.strip()
            for number, line in enumerate(lines)]


def to_markdown(lines, anchors, language="text"):
    """A comment's lines as prose and, where they are indented, as text that keeps its columns. Known names become
    links: `anchors` has the address of each."""
    parts = []
    for line in "\n".join(lines).strip("\n").split("\n"):
        is_code = line.startswith("  ") or (not line and bool(parts) and parts[-1][0])
        if not parts or parts[-1][0] != is_code:
            parts.append((is_code, []))
        parts[-1][1].append(line)

    def link(match):
        name = match.group(0).strip("`")
        address = anchors.get(name.removesuffix("()"))
        return f"[`{name}`]({address})" if address else f"`{name}`"

    text = []
    for is_code, some in parts:
        if is_code:
            text.append(f"~~~~{language}\n" + "\n".join(line[2:] for line in some).strip("\n") + "\n~~~~")
        else:
            pieces = re.split(f"({_IN_TEXT.pattern})", "\n".join(some).strip("\n"))
            text.append("".join(_IN_TEXT.sub(link, piece) if _IN_TEXT.fullmatch(piece) else
                                re.sub(r"([*<\[\]])", r"\\\1", piece) for piece in pieces))
    return "\n\n".join(part for part in text if part.strip())


def items(text):
    """(kind, text) of each comment, declaration and #define, and "blank" where a paragraph ends."""
    at = 0
    while at < len(text):
        if text[at] in " \n":
            end = re.compile(r"\s+").match(text, at).end()
            if text.count("\n", at, end) > 1:
                yield "blank", ""
            at = end
            continue
        if text.startswith("/*", at):
            end = text.index("*/", at) + 2
            kind = "comment"
        elif text[at] == "#" or _HIDDEN.match(text[at:text.find("\n", at)]):
            end = re.compile(r"(?:\\\n|[^\n])*").match(text, at).end()
            kind = "code"
        else:
            end, kind = _end_of_declaration(text, at), "code"
        # What is said at the end of a line belongs to it.
        aside = re.compile(r" */\*[^\n]*\*/(?=\n)").match(text, end) if kind == "code" else None
        end = aside.end() if aside else end
        if kind == "comment" or not _HIDDEN.match(text[at:end]):
            yield kind, text[at:end]
        at = end


def _end_of_declaration(text, at):
    depth = 0
    for match in re.compile(r"/\*.*?\*/|[{};]", re.DOTALL).finditer(text, at):
        mark = match.group(0)
        depth += (mark == "{") - (mark == "}")
        if mark == ";" and depth == 0:
            return match.end()
    raise SystemExit(f"site: a declaration without an end: {text[at:at + 60]}")


class Entry:
    """What stands together: a comment and what it is about."""

    def __init__(self, comment):
        self.comment, self.code = comment, []

    def names(self):
        """What it declares; the first is its heading."""
        code = re.sub(r"/\*.*?\*/", "", "\n".join(self.code), flags=re.DOTALL)
        if "typedef" in code and "(*" not in code.split("{")[0]:
            code = re.sub(r"\b(enum|struct) \w+", r"\1", code)
            types = re.findall(r"(\w+);$", re.sub(r"\{.*?\}", "", code, flags=re.DOTALL), re.MULTILINE)
            found = types + re.findall(r"\bHOCKET_\w+", code)
        else:
            found = re.findall(r"\(\*(\w+)\)\(" if "typedef" in code else r"\b(hocket_\w+)\(", code)
            found += re.findall(r"#define (\w+)", code)
        return list(dict.fromkeys(found))


def sections(text):
    """[title, lines of its comment, entries] of each; the first is the head of the file."""
    found, entry = [["", [], []]], None
    is_head = True
    for kind, item in items(text):
        section = _SECTION.match(item) if kind == "comment" else None
        if section:
            found.append([section.group("title").rstrip(" -"), comment_text("*\n" + section.group("rest"))[1:], []])
            entry = None
        elif kind == "comment" and is_head:
            if not item.startswith("/* SPDX"):
                found[0][1], is_head = comment_text(item), False
        elif kind == "comment":
            entry = Entry(comment_text(item))
            found[-1][2].append(entry)
        elif kind == "blank":
            entry = None if entry is None or entry.code else entry
        else:
            is_new = entry is None or (entry.code and item.startswith("HOCKET_API"))
            if is_new:
                entry = Entry([])
                found[-1][2].append(entry)
            entry.code.append(item.removeprefix("HOCKET_API "))
    return found


def _wrapped(code):
    """A function's declaration in lines that fit beside a table of contents."""
    match = re.fullmatch(r"([^({]*\()([^{]*\);)", code, re.DOTALL)
    if not match or len(" ".join(code.split())) <= COLUMNS:
        return code if not match else " ".join(code.split())
    whole = " ".join(match.group(2).split()).replace(" ", "\0").replace(",\0", ", ")
    lines = textwrap.wrap(whole, COLUMNS, initial_indent="    ", subsequent_indent="    ", break_long_words=False)
    return "\n".join([match.group(1), *lines]).replace("\0", " ")


def all_sections(root):
    """Those of all headers; which header is said of others than the first."""
    for place, (header, head) in enumerate(HEADERS.items()):
        for title, lines, entries in sections((root / header).read_text(encoding="utf-8")):
            yield (head if not title else f"{head}: {title}" if place else title), lines, entries


def addresses(root, page=""):
    """{name: link} of all that the headers declare."""
    found = {}
    for _, _, entries in all_sections(root):
        for entry in entries:
            for name in entry.names():
                found.setdefault(name, f"{page}#{entry.names()[0]}")
    return found


def page(root):
    """The page in Markdown."""
    anchors = addresses(root)
    parts = ["# C API", "What `hocket/hocket.h` declares: contexts, communicators, collectives that block and "
             "collectives that are started, requests; `hocket/neighbourhoods.h`: collectives among neighbours; "
             "`hocket/persistent.h`: both, made ready once and started again and again; and `hocket/counters.h`: what "
             "is counted, for tools."]
    for title, lines, entries in all_sections(root):
        parts.append(f"## {title[:1].upper()}{title[1:]}")
        parts.append(to_markdown(lines, anchors))
        for entry in entries:
            name = entry.names()[0]
            parts.append(f"### {name} {{#{name}}}")
            parts.append("~~~~c\n" + "\n".join(map(_wrapped, entry.code)) + "\n~~~~")
            if name.endswith("_start") and not entry.comment:
                parts.append(to_markdown([f"Starts {name.removesuffix('_start')}."], anchors))
            parts.append(to_markdown(entry.comment, anchors))
    return "\n\n".join(part for part in parts if part) + "\n"
