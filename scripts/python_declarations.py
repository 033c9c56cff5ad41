#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes python/hocket/_cdef.py, the declarations of the C headers in include/hocket as cffi's ABI mode wants them:
read once here, so that a program that imports hocket parses no C. Needs cffi.

usage: python_declarations.py            writes the file
       python_declarations.py --check    ends with 1 if the file says something else than the headers
"""

import ast
import difflib
import pathlib
import re
import sys
import tempfile
import textwrap

import cffi
import cffi.recompiler

ROOT = pathlib.Path(__file__).resolve().parent.parent
# hocket.h has the version, and what the others are declared by.
HEADERS = [ROOT / "include" / "hocket" / f"{name}.h"
           for name in ("hocket", "neighbourhoods", "persistent", "counters")]
MODULE = ROOT / "python" / "hocket" / "_cdef.py"
COLUMNS = 100

HEAD = '''# SPDX-License-Identifier: BSD-3-Clause
"""The C API as cffi knows it. Made by scripts/python_declarations.py from include/hocket; not to be edited."""

from __future__ import annotations

from _cffi_backend import FFI  # type: ignore[import-not-found,import-untyped,unused-ignore]

VERSION = "{version}"  # of the header

# Macros, which have no address: operations by their names, and what else calls are given.
OPERATIONS = {operations}
IN_PLACE = {in_place}
NO_RANK = {no_rank}
OPAQUE = {opaque}
MAX_COMBINED_BYTES = {most}

ffi = FFI(
{arguments})
'''


def declarations(header):
    """The C of a header without comments, macros and what is for C++ only."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    text = re.sub(r"^#ifdef __cplusplus$.*?^#endif$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^#(?:\\\n|[^\n])*$", "", text, flags=re.MULTILINE)
    return text.replace("HOCKET_API ", "")


def macro(header, pattern):
    """The values of a macro whose definition has the form of the pattern, in all headers' text."""
    found = re.findall(rf"^#define {pattern}", header, re.MULTILINE)
    if not found:
        sys.exit(f"python_declarations: {HEADERS[0].parent} has no macro of the form {pattern}")
    return found


def backend_arguments(text):
    """(name, value) of what the compiled declarations hand to cffi's backend."""
    compiler = cffi.FFI()
    compiler.cdef(text)
    compiler.set_source("hocket._cdef", None)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "_cdef.py")
        cffi.recompiler.make_py_source(compiler, "hocket._cdef", str(path))
        made = path.read_text(encoding="utf-8")
    call = next(node for node in ast.walk(ast.parse(made)) if isinstance(node, ast.Call))
    return [("", ast.literal_eval(call.args[0]))] + [(each.arg, ast.literal_eval(each.value)) for each in call.keywords]


def filled(values):
    """Lines of several values each."""
    lines = [""]
    for text in (f"{value!r}," for value in values):
        if lines[-1] and len(lines[-1]) + 1 + len(text) > COLUMNS:
            lines.append("")
        lines[-1] += f" {text}" if lines[-1] else text
    return lines


def as_text(value, indent):
    """A value as Python, with lines of COLUMNS at most."""
    if isinstance(value, tuple):
        if all(isinstance(each, (int, bytes)) and len(repr(each)) + indent < COLUMNS for each in value):
            return "(\n" + "".join(f"{' ' * (indent + 4)}{line}\n" for line in filled(value)) + " " * indent + ")"
        inside = "".join(f"{' ' * (indent + 4)}{as_text(each, indent + 4)},\n" for each in value)
        return f"(\n{inside}{' ' * indent})"
    if not isinstance(value, bytes) or len(repr(value)) + indent < COLUMNS:
        return repr(value)
    step, lines, begin = COLUMNS - indent, [], 0
    while begin < len(value):
        end = min(len(value), begin + step)
        while len(repr(value[begin:end])) > step:
            end -= 1
        lines.append(repr(value[begin:end]))
        begin = end
    return "(\n" + textwrap.indent("\n".join(lines), " " * (indent + 4)) + "\n" + " " * indent + ")"


def module_text(header):
    operations = {name: int(number) for name, number in macro(header, r"HOCKET_(\w+) \(\(hocket_op_t\)(\d+)\)")}
    shown = "".join(f'    "{name}": {number},\n' for name, number in operations.items())
    arguments = "".join(f"    {name}{'=' if name else ''}{as_text(value, 4)},\n"
                        for name, value in backend_arguments(declarations(header)))
    version = ".".join(macro(header, rf"HOCKET_VERSION_{part} (\d+)")[0] for part in ("MAJOR", "MINOR", "PATCH"))
    return HEAD.format(version=version, operations=f"{{\n{shown}}}", arguments=arguments,
                       no_rank=macro(header, r"HOCKET_NO_RANK \((-\d+)\)")[0],
                       in_place=macro(header, r"HOCKET_IN_PLACE \(\(const void\*\)\(intptr_t\)(-?\d+)\)")[0],
                       opaque=macro(header, r"HOCKET_TYPE_OPAQUE\(bytes\) \(\(hocket_type_t\)(0x[0-9a-f]+)u \|")[0],
                       most=macro(header, r"HOCKET_MAX_COMBINED_BYTES (\d+)")[0])


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    wanted = module_text("".join(header.read_text(encoding="utf-8") for header in HEADERS))
    if not arguments:
        MODULE.write_text(wanted, encoding="utf-8")
        return 0
    there = MODULE.read_text(encoding="utf-8") if MODULE.exists() else ""
    difference = list(difflib.unified_diff(there.splitlines(), wanted.splitlines(), str(MODULE), "the headers",
                                           lineterm=""))
    for line in difference:
        print(line)
    if difference:
        print("_cdef.py is out of date: run scripts/python_declarations.py with an interpreter that has cffi")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
