# SPDX-License-Identifier: BSD-3-Clause
"""Every link of every page of the repository leads to a file that is there and to a heading that it has; of a page
made up here, each kind of broken link is found."""

import functools
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.append(str(ROOT / "scripts/site"))
# pylint: disable=wrong-import-position
import links  # noqa: E402


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout
    return [path for path in listed.split("\0") if path and (ROOT / path).exists()]


def with_folders(paths):
    return set(paths) | {str(folder) for path in paths for folder in pathlib.PurePath(path).parents}


def broken(page, text, known, anchors_of):
    """(line, what is wrong) of each link that leads nowhere."""
    for line, target, path, anchor in links.links(page, text):
        if path not in known:
            yield line, f"{target}: there is no {path}"
        elif anchor and path.endswith(".md") and anchor not in anchors_of(path):
            yield line, f"{target}: {path} has no such heading"


class Links(unittest.TestCase):
    def test_every_link_of_every_page_leads_somewhere(self):
        paths = tracked()
        known = with_folders(paths)
        pages = [path for path in paths if path.endswith(".md")]
        self.assertGreater(len(pages), 50)

        @functools.lru_cache(maxsize=None)
        def text_of(page):
            return (ROOT / page).read_text(encoding="utf-8")

        found = [f"{page}:{line}: {what}" for page in pages
                 for line, what in broken(page, text_of(page), known, lambda path: links.anchors(text_of(path)))]
        self.assertEqual(found, [])

    def test_what_is_broken_is_found(self):
        pages = {"docs/a.md": "# A\n\n## One's `Two`, three\n\n## Again\n\n## Again\n",
                 "docs/b.md": "[x](a.md) [x](a.md#ones-two-three) [x](#b) [x](../src) [x](a.md#again-1)\n"
                              "[x](c.md)\n![x](../c.svg)\n\n    [code](d.md)\n\n```\n[fenced](e.md)\n```\n`[x](f.md)` "
                              "[x](a.md#four) [x](#again) [x](https://a.example/b)\n# B\n"}
        known = with_folders([*pages, "src/a.cc"])
        found = list(broken("docs/b.md", pages["docs/b.md"], known, lambda path: links.anchors(pages[path])))
        self.assertEqual([line for line, _ in found], [2, 3, 10, 10])
        self.assertIn("there is no docs/c.md", found[0][1])
        self.assertIn("docs/a.md has no such heading", found[2][1])

    def test_targets_are_replaced_where_they_are_links(self):
        text = "[a](b.md) `[a](b.md)`\n\n    [a](b.md)\n\n![a](b.md#c)"
        self.assertEqual(links.replace(text, lambda target: target.replace("b", "longer")),
                         "[a](longer.md) `[a](b.md)`\n\n    [a](b.md)\n\n![a](longer.md#c)")


if __name__ == "__main__":
    unittest.main()
