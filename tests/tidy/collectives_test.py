#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of collectives and the public header must agree: what is found where they don't."""

import unittest

import small_tree
from small_tree import GOOD


class Collectives(small_tree.TestCase):
    def test_collective_without_a_function(self):
        self.write("src/base/collectives.def",
                   GOOD["src/base/collectives.def"] + "HOCKET_COLLECTIVE(A, a, A, MPI_A)\n")
        self.write("docs/environment.md", GOOD["docs/environment.md"] + "`HOCKET_A`\n")
        self.expect("collectives", "src/base/collectives.def")

    def test_collective_whose_setting_has_another_name(self):
        self.write("src/base/collectives.def", GOOD["src/base/collectives.def"].replace("BARRIER", "WAIT"))
        self.expect("collectives", "src/base/collectives.def")

    def test_function_of_no_collective(self):
        header = GOOD["include/hocket/hocket.h"]
        self.write("include/hocket/hocket.h", header + "HOCKET_API int hocket_alltoallw(void);\n"
                   "HOCKET_API int hocket_alltoallw_start(void);\n")
        self.assertEqual(self.found(), [])
        self.write("include/hocket/hocket.h", header + "HOCKET_API int hocket_b_start(void);\n")
        self.expect("collectives", "include/hocket/hocket.h")


if __name__ == "__main__":
    unittest.main()
