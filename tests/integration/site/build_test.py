# SPDX-License-Identifier: BSD-3-Clause
"""Builds the site as ./dev site does, into a folder of its own, and follows its links: pages, anchors, pictures and the
search index are there, and nothing is loaded from elsewhere. Run by the Python that has mkdocs (.venv/site)."""

import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids.add(values.get("id"))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in LOADED and values.get(LOADED[tag]) and values.get("rel") != "canonical":
            self.loaded.append(values[LOADED[tag]])


def is_elsewhere(address):
    return bool(urllib.parse.urlsplit(address).netloc)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.site = pathlib.Path(cls.folder.name) / "site"
        built = subprocess.run([sys.executable, "-B", "-m", "mkdocs", "build", "--strict", "--site-dir", str(cls.site)],
                               cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True,
                               check=False)
        assert built.returncode == 0, built.stdout + built.stderr
        cls.pages = {path.relative_to(cls.site).as_posix(): Page(path.read_text(encoding="utf-8"))
                     for path in cls.site.rglob("*.html")}

    def test_links_lead_to_pages_and_anchors(self):
        broken = []
        for name, page in self.pages.items():
            if name == "404.html":  # its links begin where the site does
                continue
            for link in [*page.links, *page.loaded]:
                address = urllib.parse.urlsplit(link)
                if address.scheme or address.netloc:
                    continue
                target = os.path.normpath(os.path.join(os.path.dirname(name), urllib.parse.unquote(address.path)))
                target = name if not address.path else target
                if not (self.site / target).is_file():
                    broken.append(f"{name}: {link}")
                elif address.fragment and not address.fragment.startswith("__") and target in self.pages:
                    if urllib.parse.unquote(address.fragment) not in self.pages[target].ids:
                        broken.append(f"{name}: {link}: no such anchor")
        self.assertEqual(broken, [])

    def test_no_fence_is_shown_as_text(self):
        shown = [path.relative_to(self.site).as_posix() for path in self.site.rglob("*.html")
                 if re.search(r"<p>```|^```", path.read_text(encoding="utf-8"), re.MULTILINE)]
        self.assertEqual([name for name in shown if not name.startswith("source/")], [])

    def test_nothing_is_loaded_from_elsewhere(self):
        self.assertEqual([(name, address) for name, page in self.pages.items() for address in page.loaded
                          if is_elsewhere(address)], [])
        styles = [path for path in self.site.rglob("*.css") if "url(http" in path.read_text(encoding="utf-8")]
        self.assertEqual(styles, [])

    def test_pages_stand_in_the_order_in_which_people_need_them(self):
        links = self.pages["index.html"].links
        order = ["get-it.html", "first-run.html", "is-it-faster.html", "when-it-is-not.html", "environment.html",
                 "troubleshooting.html"]
        self.assertEqual(sorted(order, key=links.index), order)

    def test_what_the_repository_has_beside_docs_is_there(self):
        for page in ("ARCHITECTURE.html", "CONTRIBUTING.html", "STYLE.html", "bench/results/index.html",
                     "bench/results/one-machine/collectives.html", "examples/index.html", "api/c.html", "api/cxx.html",
                     "api/python.html", "source/include/hocket/mpi_wire.h.html"):
            self.assertIn(page, self.pages)

    def test_the_search_finds_functions_settings_and_pages(self):
        index = json.loads((self.site / "search/search_index.json").read_text(encoding="utf-8"))
        places = {entry["location"] for entry in index["docs"]}
        for place in ("api/c.html#hocket_allreduce", "api/cxx.html#Comm-allreduce", "first-run.html",
                      "environment.html"):
            self.assertIn(place, places)
        self.assertFalse([place for place in places if place.startswith("source/")])


if __name__ == "__main__":
    unittest.main()
