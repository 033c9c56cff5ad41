# SPDX-License-Identifier: BSD-3-Clause
"""What is in the wheel: contents_test.py CHECKOUT LIBRARIES, the folder of the same build's libraries."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

CHECKOUT, LIBRARIES = (pathlib.Path(path).resolve() for path in sys.argv[1:3])


def symbols(library, *options):
    """The names in its dynamic table, but for the absolute ones that some linkers make of versions."""
    printed = subprocess.run(["nm", "-D", *options, library], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in printed.splitlines() if line.split()[-2] != "A"}


def names(versioned):
    return {name.split("@")[0] for name in versioned}


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = sorted((CHECKOUT / "dist").glob("hocket-*.whl"))
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        with zipfile.ZipFile(cls.files[0]) as wheel:
            cls.entries = wheel.infolist()
            wheel.extractall(cls.folder.name)
        cls.data = next(pathlib.Path(cls.folder.name).glob("hocket-*.data")) / "data"
        cls.elf = [path for path in cls.data.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]

    def test_one_wheel_serves_every_python(self):
        self.assertEqual([re.sub(r"-[\d.]+-", "-", path.name) for path in self.files],
                         ["hocket-py3-none-manylinux_2_28_x86_64.whl"])

    def test_takes_less_than_fifteen_megabytes(self):
        self.assertLess(self.files[0].stat().st_size, 15_000_000)

    def test_holds_no_link_and_no_library_twice(self):
        self.assertEqual([entry.filename for entry in self.entries if entry.external_attr >> 28 == 0o12], [])
        contents = [path.read_bytes() for path in self.elf]
        self.assertEqual(len(set(contents)), len(contents))

    def test_holds_all_that_the_build_has(self):
        built = {path.name for path in LIBRARIES.rglob("*.so") if "verbs" not in path.name}
        self.assertGreaterEqual(len(built), 5)
        self.assertLessEqual(built, {path.name for path in self.data.rglob("*.so")})

    def test_libraries_show_what_the_builds_show(self):
        for path in self.elf:
            built = sorted(LIBRARIES.rglob(path.name))
            if ".so" in path.name and built:
                with self.subTest(path.name):
                    self.assertEqual(names(symbols(path, "--defined-only")),
                                     names(symbols(built[0], "--defined-only")))

    def test_memory_is_copied_by_the_c_library(self):
        """A linker's own memcpy is slower."""
        for path in self.elf:
            with self.subTest(path.name):
                self.assertIn("memcpy@GLIBC_2.14", symbols(path, "--undefined-only"))

    def test_needs_the_c_library_only(self):
        allowed = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2", "libhocket.so.0"}
        for path in self.elf:
            printed = subprocess.run(["readelf", "-d", path], check=True, capture_output=True, text=True).stdout
            self.assertLessEqual(set(re.findall(r"\(NEEDED\).*\[(.*)\]", printed)), allowed, path.name)

    def test_names_the_version_of_each_symbol_of_the_c_library(self):
        """A call that the old glibc lacks would be one without."""
        for path in self.elf:
            printed = subprocess.run(["nm", "-D", "--undefined-only", path], check=True, capture_output=True, text=True)
            wanted = re.findall(r"^ +U (\w+)$", printed.stdout, re.MULTILINE)
            self.assertEqual([name for name in wanted if not name.startswith(("hocket_", "MPI_", "ompi_"))], [],
                             path.name)

    def test_licences_of_what_is_linked_in_are_there(self):
        folder = self.data / "share/doc/hocket/licences"
        readme = (folder / "README.txt").read_text()
        listed = re.findall(r"(\w+\.txt)  (?:Debian source package|PyPI) \S+ \S+", readme)
        self.assertEqual(sorted(listed), ["bpf.txt", "cli11.txt", "elf.txt", "gcc.txt", "glibc.txt", "hwloc.txt",
                                          "json.txt", "z.txt"])
        self.assertIn("unlimited permission to link", " ".join((folder / "glibc.txt").read_text().split()))
        for name in listed:
            self.assertGreater(os.path.getsize(folder / name), 1000, name)

    def test_the_licences_of_its_metadata_are_there(self):
        folder = next(pathlib.Path(self.folder.name).glob("hocket-*.dist-info"))
        named = re.findall(r"^License-File: (.+)$", (folder / "METADATA").read_text(), re.MULTILINE)
        self.assertEqual(named, ["LICENSE", "LICENSES/BSD-2-Clause.txt"])
        for name in named:
            self.assertTrue((folder / "licenses" / name).is_file(), name)

    def test_no_library_is_unloaded(self):
        """Its destructors run at exit() only: zig's linker brings nothing that runs them before."""
        for path in self.elf:
            if ".so" in path.name:
                printed = subprocess.run(["readelf", "-d", path], check=True, capture_output=True, text=True).stdout
                self.assertRegex(printed, r"\(FLAGS_1\).*NODELETE", path.name)

    def test_a_wheel_that_lacks_a_part_is_told(self):
        lacking = pathlib.Path(self.folder.name) / "lacking.whl"
        with zipfile.ZipFile(self.files[0]) as whole, zipfile.ZipFile(lacking, "w") as copy:
            for entry in self.entries:
                if entry.filename.endswith("bin/hocket"):
                    copy.writestr(entry.filename, whole.read(entry).replace(b"bpf/nic.bpf.c", b"nothing"))
                elif not entry.filename.endswith("libhocket-mpi-abi.so"):
                    copy.writestr(entry.filename, b"")
        for wheel, wanted in ((self.files[0], ""),
                              (lacking, "lib/hocket/libhocket-mpi-abi.so, the program of bpf/nic.bpf.c")):
            line = [sys.executable, "-B", CHECKOUT / "cmake/portable/missing_parts.py", wheel]
            printed = subprocess.run(line, check=True, capture_output=True, text=True).stdout
            self.assertEqual(printed.strip(), wanted)
        lacking.unlink()

    def test_no_path_of_the_checkout_is_in_it(self):
        for path in pathlib.Path(self.folder.name).rglob("*"):
            if path.is_file():
                self.assertFalse(str(CHECKOUT).encode() + b"/" in path.read_bytes(), path.name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
