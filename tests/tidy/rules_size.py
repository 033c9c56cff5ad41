# SPDX-License-Identifier: BSD-3-Clause
"""How long lines, functions and files may be, and how full folders."""

import ast
import collections
import pathlib
import re

from tree import CXX_SUFFIXES, Finding, blank_comments_and_strings

LINE_LIMIT = 120
FILE_LIMIT = 400
FUNCTION_LIMIT = 70
FOLDER_LIMIT = 30

# Longer files and functions, each with its reason.
LONG_FILES = {
}
LONG_FUNCTIONS = {
}
# Folders with more sources right in them, each with its reason.
FULL_FOLDERS = {
    "src/algorithms": "one file an algorithm, found by its name",
}

_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")
_NOT_FUNCTIONS = re.compile(r"\b(if|for|while|switch|catch|do|else|return)\b\s*(\(|$)")


def check_lines(tree):
    for path in tree.sources():
        for number, line in enumerate(tree.lines(path), 1):
            if len(line) > LINE_LIMIT and "http" not in line:
                yield Finding("line-length", path, number, f"{len(line)} columns, {LINE_LIMIT} at most")


def check_prose(tree):
    """The same of pages, but for tables and what is typed or printed."""
    for path in tree.paths:
        if not path.endswith(".md"):
            continue
        is_fenced = False
        for number, line in enumerate(tree.lines(path), 1):
            is_fenced ^= line.startswith("```")
            if len(line) > LINE_LIMIT and not is_fenced and not line.startswith(("|", "    ")) and "http" not in line:
                yield Finding("line-length", path, number, f"{len(line)} columns, {LINE_LIMIT} at most")


def check_files(tree):
    for path in tree.sources():
        count = len(tree.lines(path))
        if count > FILE_LIMIT and path not in LONG_FILES:
            yield Finding("file-size", path, count, f"{count} lines, {FILE_LIMIT} at most")
    for path in LONG_FILES:
        if tree.exists(path) and len(tree.lines(path)) <= FILE_LIMIT:
            yield Finding("file-size", path, 1, "no longer too long: take it out of LONG_FILES")


def check_folders(tree):
    """Tests aside, whose files are cases of one thing."""
    counts = collections.Counter(str(pathlib.PurePath(path).parent) for path in tree.sources())
    for folder, count in sorted(counts.items()):
        if count > FOLDER_LIMIT and folder not in FULL_FOLDERS and not folder.startswith("tests/"):
            yield Finding("folder-size", folder, 1, f"{count} sources, {FOLDER_LIMIT} at most: give them rooms")
    for folder in FULL_FOLDERS:
        if 0 < counts[folder] <= FOLDER_LIMIT:
            yield Finding("folder-size", folder, 1, "no longer too full: take it out of FULL_FOLDERS")


def cxx_functions(text):
    """(name, first line, lines) of every function body of a C or C++ text, as far as braces and words tell."""
    code = blank_comments_and_strings(text)
    # Macros too: their braces need not pair.
    code = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda macro: re.sub(r"[^\n]", " ", macro.group(0)), code,
                  flags=re.MULTILINE)
    stack = []  # (is a function, name, line)
    statement_start = 0
    line = 1
    for index, character in enumerate(code):
        if character == "\n":
            line += 1
        elif character == ";" and not _inside_function(stack):
            statement_start = index + 1
        elif character == "{":
            head = code[statement_start:index].strip()
            is_function = (not _inside_function(stack) and ")" in head and not _SCOPE.match(head)
                           and not _NOT_FUNCTIONS.match(head))
            name = re.search(r"([~\w:]+)\s*\(", head)
            # Counted from where the declaration begins.
            begin = line - head.count("\n")
            stack.append((is_function, name.group(1) if name else "?", begin))
            if not is_function:
                statement_start = index + 1
        elif character == "}" and stack:
            is_function, name, begin = stack.pop()
            if is_function:
                yield name, begin, line - begin + 1
            if not _inside_function(stack):
                statement_start = index + 1


def _inside_function(stack):
    return any(entry[0] for entry in stack)


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def shell_functions(text):
    begin, name = None, ""
    for number, line in enumerate(text.splitlines(), 1):
        opening = re.match(r"^([a-z_]+)\(\) \{", line)
        if opening:
            begin, name = number, opening.group(1)
        elif line.startswith("}") and begin:
            yield name, begin, number - begin + 1
            begin = None


def functions_of_file(tree, path):
    if path.endswith(CXX_SUFFIXES):
        return cxx_functions(tree.text(path))
    if path.endswith(".py"):
        return python_functions(tree.text(path))
    return shell_functions(tree.text(path)) if path.endswith(".sh") else ()


def check_functions(tree):
    for path in tree.sources():
        for name, line, count in functions_of_file(tree, path):
            if count > FUNCTION_LIMIT and f"{path}:{name}" not in LONG_FUNCTIONS:
                yield Finding("function-size", path, line, f"{name} has {count} lines, {FUNCTION_LIMIT} at most")
