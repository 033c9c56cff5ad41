# SPDX-License-Identifier: BSD-3-Clause
"""The pages of the API have all that the headers declare, and links among them lead somewhere."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.append(str(ROOT / "scripts/site"))
# pylint: disable=wrong-import-position
import api_c  # noqa: E402
import api_cxx  # noqa: E402


def headings(page):
    return set(re.findall(r"^#+ .*\{#([\w-]+)\}$", page, re.MULTILINE))


class ApiPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.header = "".join((ROOT / header).read_text(encoding="utf-8") for header in api_c.HEADERS)
        cls.c_page, cls.cxx_page = api_c.page(ROOT), api_cxx.page(ROOT)

    def test_every_function_of_c_has_its_heading_and_its_declaration(self):
        functions = re.findall(r"^HOCKET_API [^;]*?\b(hocket_\w+)\(", self.header, re.MULTILINE)
        self.assertGreater(len(functions), 65)
        self.assertEqual(set(functions) - headings(self.c_page), set())
        text = " ".join(self.c_page.replace("(\n    ", "(").split())
        for declaration in re.findall(r"^HOCKET_API ([^;]*;)", self.header, re.MULTILINE):
            self.assertTrue(re.sub(r"\( ", "(", " ".join(declaration.split())) in text, declaration)

    def test_every_comment_of_the_header_is_on_the_page(self):
        def words(text):
            return re.findall(r"\w+", re.sub(r"\]\([^)]*\)|~~~~\w*", "", text))
        there = " ".join(words(self.c_page))
        for comment in re.findall(r"^/\*(?! SPDX| ---)(.*?)\*/", self.header, re.DOTALL | re.MULTILINE):
            self.assertTrue(" ".join(words(comment)) in there, comment)

    def test_every_collective_of_cxx_has_its_heading(self):
        methods = set(re.findall(r"hocket_(\w+?)(?:_start)?\(comm_, ", (ROOT / api_cxx.HEADERS[0]).read_text("utf-8")))
        self.assertGreater(len(methods), 15)
        missing = {f"Comm-{method}" for method in methods - {"comm_rank", "comm_size", "comm_split", "comm_dup",
                                                              "comm_abort"}} - headings(self.cxx_page)
        self.assertEqual(missing, set())
        self.assertNotIn("check(", self.cxx_page.replace("void check(hocket_status_t status);", ""))  # no bodies

    def test_collectives_among_neighbours_name_those_of_c(self):
        for name in ("allgather", "allgatherv", "alltoall", "alltoallv"):
            self.assertRegex(self.cxx_page, rf"### Neighbourhood::{name} (?s:.*?)c\.md#hocket_neighbor_{name}\)")

    def test_links_lead_to_headings(self):
        for page in (self.c_page, self.cxx_page):
            for anchor in re.findall(r"\]\((?:c\.md)?#([\w-]+)\)", page):
                self.assertIn(anchor, headings(self.c_page))

    def test_what_is_no_class_of_the_page_is_told(self):
        self.addCleanup(setattr, api_cxx, "ORDER", api_cxx.ORDER)
        api_cxx.ORDER = api_cxx.ORDER[:-1]
        with self.assertRaisesRegex(SystemExit, "differ by Op"):
            api_cxx.page(ROOT)


if __name__ == "__main__":
    unittest.main()
