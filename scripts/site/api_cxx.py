# SPDX-License-Identifier: BSD-3-Clause
"""The page of the C++ API, made of hocket.hpp, what it includes, neighbourhoods.hpp and persistent.hpp: classes with
their public members and functions, without bodies, each beside its namesake in C."""

import re

import api_c

HEADERS = ("include/hocket/hocket.hpp", "include/hocket/lengths.hpp", "include/hocket/objects.hpp",
           "include/hocket/elements.hpp", "include/hocket/neighbourhoods.hpp", "include/hocket/persistent.hpp")
# In the order in which a program meets them.
ORDER = ("Context", "Comm", "Blocks", "Request", "Neighbourhood", "PersistentRequest", "Error", "Op")
_NAMESPACE = re.compile(r"^namespace hocket \{\n(.*)^\}  // namespace hocket$", re.DOTALL | re.MULTILINE)
_DETAIL = re.compile(r"^namespace detail \{\n.*?^\}  // namespace detail$", re.DOTALL | re.MULTILINE)


def _after_brackets(text, at):
    """Behind the block that begins there."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(text, at):
        depth += 1 if match.group(0) == "{" else -1
        if depth == 0:
            return match.end()
    raise SystemExit(f"site: a block without an end: {text[at:at + 60]}")


def _without_initialisers(head):
    """A constructor's head up to the colon."""
    depth = 0
    for at, mark in enumerate(head):
        depth += (mark in "(<") - (mark in ")>")
        if mark == ":" and depth == 0 and "::" not in (head[at - 1:at + 1], head[at:at + 2]):
            return head[:at].rstrip()
    return head


def declarations(text):
    """(lines of comment, declaration, body or "") of each declaration of a namespace or class. Comments reach across
    no blank line."""
    at, comment = 0, []
    while at < len(text):
        line = re.compile(r"[ ]*//([^\n]*)\n|\s*\n|[ ]*#[^\n]*\n|[ ]+").match(text, at)
        if line:
            if line.group(1) is not None:
                comment.append(line.group(1).removeprefix(" "))
            elif "\n" in line.group(0):
                comment = []
            at = line.end()
            continue
        mark = re.compile(r"(?<!=)(?<!= )\{|;|(?:public|private):").search(text, at)
        if mark is None:
            return
        head = text[at:mark.start()].strip()
        body, at = "", mark.end()
        if mark.group(0) == "{":
            at = _after_brackets(text, mark.start())
            body = text[mark.end():at - 1]
            aside = re.compile(r";?[^\n]*").match(text, at)
            at = aside.end()
        if mark.group(0) == "private:":
            return
        if mark.group(0) != "public:":
            yield comment, head, body
        comment = []


def _tidied(head):
    """Without what a caller doesn't write, and with the columns of its first line."""
    head = re.sub(r"\binline |\[\[nodiscard\]\] ", "", _without_initialisers(head))
    template, others = re.match(r"(template <[^\n]*>\n)?(.*)", head, re.DOTALL).groups("")
    return template + re.sub(r"\n +", "\n    ", others.strip()) + ";"


def _name(head):
    match = re.search(r"(~?\w+|operator ?\S+?)\(", head)
    return match.group(1) if match else head.split()[-1]


def _members(comment_and_code):
    """{name: (comment, declarations)}; what is started stands with what blocks."""
    found = {}
    for comment, head, _ in comment_and_code:
        if "= delete" in head or re.match(r"(struct|class) ", head):
            continue
        name = _name(head).removesuffix("_start")
        comments, codes = found.setdefault(name, ([], []))
        if codes:  # of this form alone
            codes += [f"// {line}" for line in comment]
        else:
            comments += comment
        codes.append(_tidied(head))
    return found


def _class(template, kind, name, comment, body, addresses):
    """Its part of the page. Constructors and operators come first, in one block."""
    yield f"## {name}"
    yield api_c.to_markdown(comment, addresses)
    members = _members(declarations(body))
    special = {member: both for member, both in members.items()
               if member.strip("~") == name or member.startswith("operator") or kind == "struct"}
    if special:
        lines = [f"{template}{kind} {name};"] if template else []
        for comments, codes in special.values():
            lines += [*(f"// {line}" for line in comments), *codes]
        yield "~~~~cpp\n" + "\n".join(lines) + "\n~~~~"
    for member, (comments, codes) in members.items():
        if member in special:
            continue
        yield f"### {name}::{member} {{#{name}-{member}}}"
        yield "~~~~cpp\n" + "\n".join(codes) + "\n~~~~"
        yield api_c.to_markdown(comments, addresses)
        prefixes = {"Comm": ("hocket_", "hocket_comm_"), "Neighbourhood": ("hocket_neighbor_",)}.get(name, ())
        namesake = next((c for c in (f"{prefix}{member}" for prefix in prefixes) if c in addresses), None)
        if namesake:
            yield f"In C: [`{namesake}`]({addresses[namesake]})."


def page(root):
    """The page in Markdown."""
    addresses = api_c.addresses(root, "c.md")
    classes, functions, head = {}, {}, []
    for header in HEADERS:
        text = (root / header).read_text(encoding="utf-8")
        if not head:
            head = [line.removeprefix("//").removeprefix(" ") for line in text.split("\n#", 1)[0].split("\n")[1:]]
        for inside in _NAMESPACE.findall(text):
            inside = _DETAIL.sub("", inside)
            for comment, what, body in declarations(inside):
                match = re.match(r"(template <[^\n]*>\n)?(class|struct) (\w+)(?: : .*)?$", what)
                if match:
                    classes[match.group(3)] = (*match.groups(""), comment, body)
                else:
                    functions.setdefault(_name(what), (comment, []))[1].append(_tidied(what))
    missing = set(classes) ^ set(ORDER)
    if missing:
        raise SystemExit(f"site: the headers' classes and ORDER in api_cxx.py differ by {', '.join(sorted(missing))}")
    parts = ["# C++ API", api_c.to_markdown(head, addresses, "cpp")]
    for name in ORDER:
        parts += _class(*classes[name], addresses)
    parts.append("## Functions")
    for name, (comment, codes) in functions.items():
        parts += [f"### {name} {{#{name}}}", "~~~~cpp\n" + "\n".join(codes) + "\n~~~~",
                  api_c.to_markdown(comment, addresses)]
    return "\n\n".join(part for part in parts if part) + "\n"
