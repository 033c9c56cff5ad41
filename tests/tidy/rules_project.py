# SPDX-License-Identifier: BSD-3-Clause
"""What must agree: registry and files, collectives and the public header, environment and its page, header and its
comments, licence lines, paths."""

import pathlib
import re

from tree import Finding

REGISTRY = "src/algorithms/algorithms.def"
SETTINGS = "src/base/environment_settings.cc"
ENVIRONMENT_PAGE = "docs/environment.md"
PUBLIC_HEADER = "include/hocket/hocket.h"
NEIGHBOURS_HEADER = "include/hocket/neighbourhoods.h"
PERSISTENT_HEADER = "include/hocket/persistent.h"
COUNTERS_HEADER = "include/hocket/counters.h"
CXX_HEADER = "include/hocket/hocket.hpp"
CXX_PERSISTENT_HEADER = "include/hocket/persistent.hpp"
STATISTICS = "interposer/core/statistics.cc"
INTERPOSER_PAGE = "docs/interposer.md"
COLLECTIVES = "src/base/collectives.def"


def collectives(tree):
    """(line, name, NAME) of each line of the table."""
    text = tree.text(COLLECTIVES) if tree.exists(COLLECTIVES) else ""
    return [(text.count("\n", 0, row.start()) + 1, row.group(1), row.group(2))
            for row in re.finditer(r"^HOCKET_COLLECTIVE\(\w+, (\w+), (\w+),", text, re.MULTILINE)]


def neighbor_collectives(tree):
    """(line, name, NAME, MPI's other functions) of each line of those among neighbours."""
    text = tree.text(COLLECTIVES) if tree.exists(COLLECTIVES) else ""
    return [(text.count("\n", 0, row.start()) + 1, row.group(1), row.group(2), re.findall(r"MPI_(\w+)", row.group(3)))
            for row in re.finditer(r'^HOCKET_NEIGHBOR_COLLECTIVE\(\w+, (\w+), (\w+),\s*MPI_\w+, "([^"]*)"', text,
                                   re.MULTILINE)]


def declared_in(text):
    return set(re.findall(r"^HOCKET_API\s[^;(]*\bhocket_(\w+)\(", text, re.MULTILINE))


def check_neighbor_collectives(tree):
    """The same of those among neighbours, which have a header of their own."""
    if not tree.exists(NEIGHBOURS_HEADER) or not tree.exists(COLLECTIVES):
        return
    declared = declared_in(tree.text(NEIGHBOURS_HEADER))
    rows = neighbor_collectives(tree)
    for number, name, setting, _ in rows:
        for function in (name, f"{name}_start"):
            if function not in declared:
                yield Finding("collectives", COLLECTIVES, number, f"{NEIGHBOURS_HEADER} has no hocket_{function}")
        if setting != name.upper():
            yield Finding("collectives", COLLECTIVES, number, f"HOCKET_{setting} is not the name of {name} in capitals")
    known = {name for _, name, _, _ in rows} | {other.lower() for _, _, _, others in rows for other in others}
    for name in sorted(declared):
        if f"{name}_start" in declared and name not in known:
            yield Finding("collectives", NEIGHBOURS_HEADER, 1, f"hocket_{name} is not in {COLLECTIVES}")


def check_persistent_collectives(tree):
    """What can be started can be made ready once, too; in C++ all but what has a type for each block."""
    if not tree.exists(PERSISTENT_HEADER):
        return
    declared = declared_in(tree.text(PERSISTENT_HEADER))
    called = set(re.findall(r"\bhocket_(\w+)\(", tree.text(CXX_PERSISTENT_HEADER))) if tree.exists(
        CXX_PERSISTENT_HEADER) else declared
    for header in (PUBLIC_HEADER, NEIGHBOURS_HEADER):
        started = declared_in(tree.text(header)) if tree.exists(header) else set()
        for name in sorted(each[:-len("_start")] for each in started if each.endswith("_start")):
            if f"{name}_init" not in declared:
                yield Finding("collectives", header, 1, f"{PERSISTENT_HEADER} has no hocket_{name}_init")
            elif f"{name}_init" not in called and not name.endswith("alltoallw"):
                yield Finding("collectives", header, 1, f"{CXX_PERSISTENT_HEADER} calls no hocket_{name}_init")


def check_collectives(tree):
    """The table and the public headers have the same collectives, each in all forms, and the setting is the name."""
    yield from check_neighbor_collectives(tree)
    yield from check_persistent_collectives(tree)
    if not tree.exists(PUBLIC_HEADER) or not tree.exists(COLLECTIVES):
        return
    declared = declared_in(tree.text(PUBLIC_HEADER))
    called = set(re.findall(r"\bhocket_(\w+)\(", tree.text(CXX_HEADER))) if tree.exists(CXX_HEADER) else declared
    rows = collectives(tree)
    for number, name, setting in rows:
        for function in (name, f"{name}_start"):
            if function not in declared:
                yield Finding("collectives", COLLECTIVES, number, f"{PUBLIC_HEADER} has no hocket_{function}")
            elif function not in called:
                yield Finding("collectives", COLLECTIVES, number, f"{CXX_HEADER} calls no hocket_{function}")
        if setting != name.upper():
            yield Finding("collectives", COLLECTIVES, number, f"HOCKET_{setting} is not the name of {name} in capitals")
    known = {name for _, name, _ in rows} | {
        function.lower() for function in re.findall(r"^HOCKET_MPI_COLLECTIVE\(\w+, (\w+)\)", tree.text(COLLECTIVES),
                                                    re.MULTILINE)}
    for name in sorted(declared):
        if f"{name}_start" in declared and name not in known:
            yield Finding("collectives", PUBLIC_HEADER, 1, f"hocket_{name} is not in {COLLECTIVES}")


def check_algorithms(tree):
    """Each src/algorithms/<collective>_<name>.cc is one line of the registry, and the other way round."""
    if not tree.exists(REGISTRY):
        yield Finding("algorithms", REGISTRY, 1, "there is no registry")
        return
    registered = {}
    for number, line in enumerate(tree.lines(REGISTRY), 1):
        match = re.match(r"\s*HOCKET_(?:NEIGHBOR_)?ALGORITHM\((\w+)\)", line)
        if match:
            if match.group(1) in registered:
                yield Finding("algorithms", REGISTRY, number, f"{match.group(1)} is registered twice")
            registered[match.group(1)] = number
    files = set()
    beginnings = tuple(f"{name}_" for _, name, *_ in collectives(tree) + neighbor_collectives(tree))
    for path in tree.paths:
        pure = pathlib.PurePath(path)
        if str(pure.parent) == "src/algorithms" and pure.suffix == ".cc" and pure.stem.startswith(beginnings):
            files.add(pure.stem)
    for name in sorted(files - registered.keys()):
        yield Finding("algorithms", f"src/algorithms/{name}.cc", 1, f"not registered in {REGISTRY}")
    for name in sorted(registered.keys() - files):
        yield Finding("algorithms", REGISTRY, registered[name], f"src/algorithms/{name}.cc does not exist")


def check_licence(tree):
    for path in tree.sources():
        head = tree.lines(path)[:2]
        if path.endswith(("CMakeLists.txt", ".cmake", ".def", ".pml")) or not head:
            continue
        line = head[1] if head[0].startswith("#!") and len(head) > 1 else head[0]
        # The kernel lends most of its functions to programs under the GPL only.
        is_kernels = path.startswith(("bpf/", "protocol/")) or path.endswith(".bpf.c")
        wanted = "GPL-2.0-only OR BSD-2-Clause" if is_kernels else "BSD-3-Clause"
        if f"SPDX-License-Identifier: {wanted}" not in line:
            yield Finding("licence", path, 1, f"the first line must be // SPDX-License-Identifier: {wanted}")


def check_public_header(tree):
    """Each function stands in a paragraph with a comment, or right under a heading that says what it needs."""
    for header in (PUBLIC_HEADER, NEIGHBOURS_HEADER, PERSISTENT_HEADER, COUNTERS_HEADER):
        if tree.exists(header):
            yield from _check_comments(tree, header)


def _check_comments(tree, header):
    has_comment, after_heading = False, False
    for number, line in enumerate(tree.lines(header), 1):
        stripped = line.strip()
        if stripped.startswith("/*"):
            has_comment, after_heading = True, stripped.startswith("/* ---")
        elif not stripped:
            has_comment = after_heading
            after_heading = False
        elif stripped.startswith("HOCKET_API") and not has_comment:
            name = re.search(r"(hocket_\w+)\(", line)
            yield Finding("public-header", header, number, f"{name.group(1) if name else line} has no comment")


def environment_names(tree):
    """(file, line, name) of every HOCKET_* name that code spells as text."""
    for path in tree.cxx():
        if not path.startswith(("src/", "interposer/", "tools/", "bench/", "examples/")):
            continue
        for number, line in enumerate(tree.lines(path), 1):
            if not line.lstrip().startswith(("//", "/*", "*")):
                for name in re.findall(r'"(HOCKET_[A-Z0-9_]+)(?:=[^"]*)?"', line):
                    yield path, number, name


def check_environment(tree):
    """Names that the code uses are in the table, and the table's names are in docs/environment.md."""
    if not tree.exists(SETTINGS):
        return
    table = set(re.findall(r'"(HOCKET_[A-Z0-9_]+)"', tree.text(SETTINGS)))
    table |= {f"HOCKET_{setting}" for _, _, setting, *_ in collectives(tree) + neighbor_collectives(tree)}
    for path, line, name in environment_names(tree):
        if name not in table and not _is_public_name(tree, name):
            yield Finding("environment", path, line, f"{name} is not in {SETTINGS}")
    page = tree.text(ENVIRONMENT_PAGE) if tree.exists(ENVIRONMENT_PAGE) else ""
    for name in sorted(table):
        if f"`{name}`" not in page:
            yield Finding("environment", ENVIRONMENT_PAGE, 1, f"{name} is missing")


def _is_public_name(tree, name):
    return tree.exists(PUBLIC_HEADER) and re.search(rf"\b{name}\b", tree.text(PUBLIC_HEADER)) is not None


def check_reasons(tree):
    """What the statistics can print as a reason has its row in the page's table, and each row a sentence."""
    if not tree.exists(STATISTICS):
        return
    # `carried out` is no reason but a column.
    reasons = dict(re.findall(r'case Outcome::(\w+):\s*return "([^"]+)";', tree.text(STATISTICS)))
    reasons.pop("kCarriedOut", None)
    rows = {}
    table = False
    for number, line in enumerate(tree.lines(INTERPOSER_PAGE) if tree.exists(INTERPOSER_PAGE) else [], 1):
        cells = [cell.strip() for cell in line.split("|")]
        table = cells[1:2] == ["reason"] or (table and len(cells) > 3)
        if table and cells[1] not in ("reason", "---"):
            rows[cells[1]] = number
            if not cells[2]:
                yield Finding("reasons", INTERPOSER_PAGE, number, f"`{cells[1]}` is not explained")
    for reason in sorted(set(reasons.values()) - rows.keys()):
        yield Finding("reasons", INTERPOSER_PAGE, 1, f"the reason `{reason}` of {STATISTICS} has no row")
    for reason in sorted(rows.keys() - set(reasons.values())):
        yield Finding("reasons", INTERPOSER_PAGE, rows[reason], f"`{reason}` is no reason of {STATISTICS}")


# A path of somebody's machine: a home, root's home, a work folder at the root.
_MACHINE_PATH = re.compile(r"(?<![\w.$}/*])/(?:home/\w|root/|Users/\w|work/|mnt/\w|opt/\w)")


def check_machine_paths(tree):
    for path in tree.paths:
        if path.endswith((".png", ".svg")) or path.startswith("tests/tidy/"):
            continue
        for number, line in enumerate(tree.lines(path), 1):
            match = _MACHINE_PATH.search(line)
            if match:
                yield Finding("machine-path", path, number, f"a path of one machine: {line.strip()[:80]}")
