# SPDX-License-Identifier: BSD-3-Clause
"""The rules about the version and about tables can fail."""

import unittest

import small_tree
from small_tree import GOOD


class Version(small_tree.TestCase):
    def test_header_of_another_version(self):
        self.write("include/hocket/hocket.h",
                   GOOD["include/hocket/hocket.h"].replace("VERSION_MINOR 5", "VERSION_MINOR 6"))
        self.expect("version", "include/hocket/hocket.h")

    def test_changes_that_end_with_another_version(self):
        self.write("CHANGELOG.md", "# Changes\n\n## 2.5.0 (2026-01-31)\n\n## 2.5.1 (unreleased)\n")
        self.expect("version", "CHANGELOG.md")

    def test_changes_that_nobody_wrote_down(self):
        (self.root / "CHANGELOG.md").unlink()
        self.expect("version", "CHANGELOG.md")

    def test_date_that_is_none(self):
        self.write("CHANGELOG.md", "# Changes\n\n## 2.5.1 (soon)\n")
        self.expect("version", "CHANGELOG.md")

    def test_package_of_another_version(self):
        self.write("debian/changelog", "hocket (2.5.1-2) unstable; urgency=low\n")
        self.assertEqual(self.found(), [])
        self.write("debian/changelog", "hocket (2.4.9-1) unstable; urgency=low\n")
        self.expect("version", "debian/changelog")

    def test_page_that_names_another_version_once(self):
        page = "```\nhocket 2.5.1\n```\n\nuses: OWNER/hocket/packaging/action@v2.5.1\n"
        self.write("README.md", GOOD["README.md"] + "See docs/get-it.md.\n")
        self.write("docs/get-it.md", page)
        self.assertEqual(self.found(), [])
        self.write("docs/get-it.md", page.replace("@v2.5.1", "@v2.5.0"))
        self.expect("version", "docs/get-it.md")

    def test_tarball_of_another_version(self):
        recipe = (GOOD["dev"].split("\n")[1] +
                  '\nclass A:\n    url = "/hocket-2.5.1-source.tar.gz"\n    version("2.5.1")\n')
        self.write("README.md", GOOD["README.md"] + "See packaging/spack/package.py.\n")
        self.write("packaging/spack/package.py", recipe.replace("hocket-2.5.1", "hocket-2.5.0"))
        self.expect("version", "packaging/spack/package.py")

    def test_project_without_a_version(self):
        self.write("CMakeLists.txt", "project(small LANGUAGES C)\n")
        self.expect("version", "CMakeLists.txt")


class Tables(small_tree.TestCase):
    def test_table_without_its_numbers(self):
        self.write("bench/results/calls.md", "| call | us |\n|---|---|\n| barrier | to be measured |\n")
        self.write("README.md", GOOD["README.md"] + "See bench/results/calls.md.\n")
        self.expect("measured", "bench/results/calls.md")


if __name__ == "__main__":
    unittest.main()
