#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the house rules that no compiler knows; prints what breaks them and ends with 1 if anything does.

usage: tidy.py ROOT [BUILD_DIRECTORY]     the build tells which sources are compiled at all
       tidy.py --counts ROOT              what the house watches, in numbers
"""

import sys

import counts
import rules_classes
import rules_comments
import rules_commits
import rules_dead
import rules_glossary
import rules_includes
import rules_messages
import rules_project
import rules_release
import rules_size
from tree import Tree

RULES = [
    rules_includes.check_directions,
    rules_includes.check_dead_headers,
    rules_includes.check_dead_scripts,
    rules_dead.check_dead_declarations,
    rules_comments.check_comments,
    rules_comments.check_thread_safety,
    rules_glossary.check_glossary,
    rules_size.check_lines,
    rules_size.check_prose,
    rules_size.check_files,
    rules_size.check_folders,
    rules_size.check_functions,
    rules_classes.check_classes,
    rules_project.check_algorithms,
    rules_project.check_collectives,
    rules_project.check_licence,
    rules_project.check_public_header,
    rules_project.check_environment,
    rules_project.check_reasons,
    rules_project.check_machine_paths,
    rules_messages.check_messages,
    rules_release.check_versions,
    rules_release.check_measured,
    rules_commits.check_commits,
]


def findings(root, build_directory=None):
    tree = Tree(root)
    found = [finding for rule in RULES for finding in rule(tree)]
    if build_directory:
        found += rules_includes.check_dead_sources(tree, build_directory)
    return tree, found


def main(arguments):
    if len(arguments) not in (1, 2) or arguments[-1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    if arguments[0] == "--counts":
        for what, count in counts.counts(Tree(arguments[-1])):
            print(f"{what}: {count}")
        return 0
    tree, found = findings(*arguments)
    for line in [*found, *tree.notes]:
        print(line)
    print(f"tidy: {len(tree.sources())} sources, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
