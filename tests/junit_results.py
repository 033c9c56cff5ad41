#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints a line "passed|failed|skipped <tab> name" for each test of a report that ctest wrote as JUnit XML."""

import sys
import xml.etree.ElementTree

for case in xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
    if case.find("failure") is not None or case.get("status") == "fail":
        result = "failed"
    elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        result = "skipped"
    else:
        result = "passed"
    print(result, case.get("name"), sep="\t")
