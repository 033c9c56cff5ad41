# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages say what --help, the table of settings and the public header say."""

import glob
import json
import os
import re
import shutil
import subprocess
import tempfile

from hocket_command import LIMIT_S, CommandTest, main, run

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
HEADER = os.path.join(ROOT, "include/hocket/hocket.h")
HEADERS = [HEADER, *(os.path.join(ROOT, "include/hocket", f"{name}.h")
                     for name in ("neighbourhoods", "persistent", "counters"))]


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def plain(roff):
    """Without fonts and escapes."""
    return re.sub(r"\\f[BIR]", "", roff).replace("\\-", "-").replace("\\e", "\\")


def subcommands_of(help_text):
    listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", help_text, re.MULTILINE)
    return re.findall(r"^  (\S+)", listed.group(1), re.MULTILINE) if listed else []


def options_of(help_text):
    listed = re.search(r"^Options:\n((?:  .*\n)+)", help_text, re.MULTILINE).group(1)
    return [tuple(words.split(",")) for words in re.findall(r"^  (-\S+)", listed, re.MULTILINE)]


class Pages(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        options = [word for header in HEADERS for word in ("--header", header)]
        result = run("documentation", cls.folder, *options, "--date", "2026-01-31")
        assert result.returncode == 0, result.stderr

    def page(self, section, name):
        return text_of(os.path.join(self.folder, "man", f"man{section}", f"{name}.{section}"))

    def all_commands(self, *path):
        help_text = self.expect(run(*path, "--help"), 0).stdout
        yield path, help_text
        for name in subcommands_of(help_text):
            yield from self.all_commands(*path, name)

    def test_each_subcommand_has_one_with_the_options_of_help(self):
        names = set()
        for path, help_text in self.all_commands():
            name = "-".join(("hocket", *path))
            names.add(name + ".1")
            page = plain(self.page(1, name))
            options = re.search(r"^\.SH OPTIONS\n(.*?)^\.SH ", page, re.MULTILINE | re.DOTALL).group(1)
            found = [tuple(re.findall(r"(?:^|, )(--?[a-z-]+)", line))
                     for line in re.findall(r"^\.TP\n(-.*)$", options, re.MULTILINE)]
            self.assertEqual(found, options_of(help_text), name)
            self.assertIn(".SH SYNOPSIS\nhocket " + " ".join(path), page)
        self.assertGreater(len(names), 25)
        self.assertEqual(names, set(os.listdir(os.path.join(self.folder, "man/man1"))))

    def test_examples_and_exit_codes_have_sections(self):
        page = plain(self.page(1, "hocket-exec"))
        self.assertRegex(page, r"\.SH EXAMPLES\n(?:\.PP\n)?hocket exec -- mpirun -n 4 \./app\n")
        self.assertRegex(page, r"\.SH EXIT STATUS\nthe launcher.*; 127 no such launcher")

    def test_each_setting_is_in_the_page_of_settings(self):
        page = self.page(7, "hocket-environment").replace("\\fB", "").replace("\\fR", "")
        settings = json.loads(run("info", "--json").stdout)["settings"]
        self.assertGreater(len(settings), 20)
        for name in settings:
            self.assertIn(f".TP\n{name}\n", page)

    def test_each_function_has_one_with_its_prototype(self):
        functions = {name: os.path.basename(header) for header in HEADERS for name in re.findall(
            r"^HOCKET_API .*\b(hocket_\w+)\(", text_of(header), re.MULTILINE)}
        self.assertGreater(len(functions), 90)
        pages = {os.path.basename(path)[:-2] for path in glob.glob(os.path.join(self.folder, "man/man3/*.3"))}
        self.assertEqual(pages, {*functions, "libhocket"})
        overview = plain(self.page(3, "libhocket"))
        for name in functions:
            self.assertIn(f"{name}(3)", overview)
            page = self.page(3, name)
            if link := re.fullmatch(r"\.so man3/(\w+)\.3\n", page):
                page = self.page(3, link.group(1))
            page = plain(page)
            self.assertIn(f"#include <hocket/{functions[name]}>", page)
            self.assertRegex(page, rf"\.SH SYNOPSIS\n\.EX\n(?:.*\n)*.*\b{name}\(")
            self.assertIn("HOCKET_ERR_TIMEOUT", page)
            self.assertNotIn("HOCKET_API", page)

    def test_no_function_has_the_comment_of_another(self):
        self.assertIn("This rank's number", plain(self.page(3, "hocket_comm_rank")).replace("\\(aq", "'"))
        self.assertNotIn("reason", plain(self.page(3, "hocket_comm_rank")).split(".SH ERRORS")[0])

    def test_they_are_what_man_expects(self):
        if not shutil.which("mandoc"):
            self.skipTest("no mandoc here")
        pages = [path for path in sorted(glob.glob(os.path.join(self.folder, "man/man*/*.[137]")))
                 if not text_of(path).startswith(".so ")]
        result = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *pages], cwd=os.path.join(self.folder, "man"),
                                capture_output=True, text=True, timeout=LIMIT_S, check=False)
        self.assertEqual(result.stdout + result.stderr, "")

    def test_what_cannot_be_read_or_written_is_named(self):
        another = os.path.join(ROOT, "include/hocket/hocket.hpp")
        self.refused("documentation", self.folder, "--header", another, "--date", "2026-01-31", code=1,
                     words=["hocket.hpp", "hocket_status"])
        self.refused("documentation", self.folder, "--header", "nowhere.h", "--date", "2026-01-31",
                     words=["nowhere.h"])
        self.refused("documentation", self.folder, "--header", HEADER, "--header", another, "--date", "2026-01-31",
                     code=1, words=["hocket.hpp", "HOCKET_API"])
        self.refused("documentation", "/dev/null", "--header", HEADER, "--date", "2026-01-31", code=1,
                     words=["/dev/null/man"])
        for date in ("nonsense", "2026-1-31", "31-01-2026", "2026-01-31T00"):
            self.refused("documentation", self.folder, "--header", HEADER, "--date", date,
                         words=["--date", date, "2026-11-27"])


if __name__ == "__main__":
    main()
