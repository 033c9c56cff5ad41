# SPDX-License-Identifier: BSD-3-Clause
"""Markdown pages, as they lie in the checkout: where their links lead, and to which headings, and what is fenced."""

import posixpath
import re

# ](target), also of images; not [text] (aside), and no title, which no page has.
LINK = re.compile(r"\]\((?P<target>[^()\s]+)\)")
_FENCE = re.compile(r"\s*(```+|~~~+)")
_CODE = re.compile(r"(`+).*?(?<!`)\1(?!`)")
_HEADING = re.compile(r"#{1,6} +(.*?) *#* *$")
_OWN_ANCHOR = re.compile(r"\s*\{#([\w.:-]+)\}$")


def _lines(text):
    """(line number, line, fence) of each line: None outside of fences, else the number of the line with which the
    block begins, also of the line that ends it."""
    marks = begin = None
    for number, line in enumerate(text.split("\n"), 1):
        match = _FENCE.match(line)
        if match and marks is None:
            marks, begin = match.group(1), number
        yield number, line, begin
        if number != begin and marks is not None and line.strip() == marks:
            marks = begin = None


def blocks(text):
    """(number of the fence's line, what stands behind its marks, what is fenced) of each block."""
    found = {}
    for _, line, begin in _lines(text):
        if begin is not None:
            found.setdefault(begin, []).append(line)
    for begin, (fence, *fenced) in found.items():
        yield begin, fence.strip(" `~"), "".join(f"{line}\n" for line in fenced[:-1])


def prose(text):
    """(line number, line) of what is neither fenced nor indented code; code spans are blank. Lines keep their length,
    so that what is found in them can be replaced in the page."""
    for number, line, begin in _lines(text):
        if begin is None and not line.startswith("    "):
            yield number, _CODE.sub(lambda code: " " * len(code.group(0)), line)


def slug(heading):
    """What GitHub and the site make of a heading in a link."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")


def anchors(text):
    """The anchors of a page's headings."""
    found = set()
    lines = text.split("\n")
    for number, _ in prose(text):
        match = _HEADING.match(lines[number - 1])
        if match:
            own = _OWN_ANCHOR.search(match.group(1))
            name = own.group(1) if own else slug(match.group(1))
            found.add(name if name not in found else f"{name}-{sum(other.startswith(name) for other in found)}")
    return found


def is_elsewhere(target):
    return re.match(r"[a-z][a-z0-9+.-]*:", target) is not None


def resolve(page, target):
    """(path in the repository, anchor or "") of a link of the page at that path; what leaves the repository begins
    with "..". """
    path, _, anchor = target.partition("#")
    if not path:
        return page, anchor
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path)), anchor


def links(page, text):
    """(line number, target, path, anchor) of each link that leads to this repository."""
    for number, line in prose(text):
        for match in LINK.finditer(line):
            target = match.group("target")
            if not is_elsewhere(target):
                yield (number, target, *resolve(page, target))


def replace(text, change):
    """The page with change(target) in the place of each link's target."""
    lines = text.split("\n")
    for number, line in prose(text):
        for match in reversed(list(LINK.finditer(line))):
            begin, end = match.span("target")
            whole = lines[number - 1]
            lines[number - 1] = whole[:begin] + change(match.group("target")) + whole[end:]
    return "\n".join(lines)
