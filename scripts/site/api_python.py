# SPDX-License-Identifier: BSD-3-Clause
"""The page of the Python API: which names of the package stand where. mkdocstrings fills in what they are."""

import ast

PACKAGE = "python/hocket"
INIT = f"{PACKAGE}/__init__.py"
# Modules in the order in which a program meets them, and what they are called; others follow by their names.
TITLES = {
    "context": "The ranks of a program", "communicator": "Communicators", "requests": "Requests",
    "persistent": "Requests that are started again", "neighbourhoods": "Neighbours", "operations": "Operations",
    "memory": "Memory that ranks share", "errors": "Errors",
    "counting": "Counters", "commands": "Running programs", "results": "Measurements and statistics",
}
HEAD = """# Python API

Collectives on NumPy arrays among the ranks of `hocket run`, and MPI programs under hocket from Python. `pip install
hocket` brings the package `hocket` ([Get it](../get-it.md)); arrays need NumPy.

::: hocket
    options:
      members: false
"""


def public_names(tree):
    """The strings of `__all__` and of the tables that it takes names from."""
    values = {target.id: node.value for node in tree.body if isinstance(node, ast.Assign)
              for target in node.targets if isinstance(target, ast.Name)}
    if "__all__" not in values:
        raise SystemExit(f"site: {INIT} has no __all__, by which it is known what the API is")
    names = []
    for element in values["__all__"].elts:
        value = values[element.value.id] if isinstance(element, ast.Starred) else element
        parts = value.keys if isinstance(value, ast.Dict) else getattr(value, "elts", [value])
        names += [part.value for part in parts]
    return names


def defined(tree):
    """The classes and functions of a module, in their order."""
    return [node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]


def _directive(name, members=()):
    options = f"    options:\n      members: [{', '.join(members)}]\n" if members else ""
    return f"::: {name}\n{options}"


def page(root):
    """The page in Markdown."""
    if not (root / INIT).is_file():
        raise SystemExit(f"site: there is no {INIT}, of which the page of the Python API is made")
    trees = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in (root / PACKAGE).glob("*.py")}
    names = public_names(trees["__init__"])
    parts, found = [HEAD], set()
    order = [*TITLES, *sorted(trees.keys() - TITLES.keys())]
    for module in order:
        members = [name for name in defined(trees[module]) if name in names] if module in trees else []
        if members and not module.startswith("_"):
            found.update(members)
            parts.append(f"## {TITLES.get(module, module)}\n\n" + _directive(f"hocket.{module}", members))
    others = [name for name in names if name not in found]
    functions = [name for name in others if any(name in defined(tree) for tree in trees.values())]
    if functions:
        parts.append("## The package itself\n\n" + "\n".join(
            f"### {name}\n\n" + _directive(f"hocket.{name}") for name in functions))
    values = [name for name in others if name not in functions]
    if values:
        parts.append("## Names of values\n\nOperations, types of pairs and what else is a value: " +
                     ", ".join(f"`{name}`" for name in values) + ".\n")
    return "\n".join(parts)
