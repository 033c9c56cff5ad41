# SPDX-License-Identifier: BSD-3-Clause
"""`./dev release --dry-run` in a clone of this checkout: it tells at once all that is not as it must be, and ends well
where nothing is."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[3]


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, **options)


class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.clone = pathlib.Path(folder.name) / "clone"
        self.git_of(ROOT, "clone", "--quiet", "--no-hardlinks", str(ROOT), str(self.clone))
        # What is checked out, changes that git knows of but are not committed included.
        changed = run("git", "-C", str(ROOT), "diff", "--binary", "HEAD").stdout
        if changed:
            subprocess.run(["git", "-C", str(self.clone), "apply", "-"], input=changed, text=True, check=True)
            self.commit("Take what is not committed")
        self.version = re.search(r"project\(hocket VERSION ([\d.]+)", self.text("CMakeLists.txt")).group(1)

    def git_of(self, where, *words):
        result = run("git", "-C", str(where), *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def commit(self, subject):
        self.git_of(self.clone, "add", "--all")
        self.git_of(self.clone, "-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "--quiet",
                    "--no-verify", "--message", f"{subject}\n\nFor a test.")

    def text(self, path):
        return (self.clone / path).read_text(encoding="utf-8")

    def replace(self, path, old, new):
        self.assertIn(old, self.text(path))
        (self.clone / path).write_text(self.text(path).replace(old, new, 1), encoding="utf-8")

    def release(self, tag, **settings):
        result = run("./dev", "release", tag, "--dry-run", cwd=self.clone,
                     env=dict(os.environ, LC_ALL="C.UTF-8", **settings))
        return result.returncode, result.stdout + result.stderr

    def date(self):
        """As a release's commit does, unless it has been done already."""
        if "(unreleased)" in self.text("CHANGELOG.md"):
            self.replace("CHANGELOG.md", "(unreleased)", "(2026-12-01)")
        if ") UNRELEASED;" in self.text("debian/changelog"):
            self.replace("debian/changelog", ") UNRELEASED;", ") unstable;")
        for path, old, new in (("docs/get-it.md", "OWNER", "somebody"),
                               ("debian/control", "maintainers@hocket.example", "somebody@localhost"),
                               ("debian/changelog", "maintainers@hocket.example", "somebody@localhost")):
            (self.clone / path).write_text(self.text(path).replace(old, new), encoding="utf-8")
        for table in (self.clone / "bench/results").rglob("*.md"):
            table.write_text(table.read_text(encoding="utf-8").replace("to be measured", "-"), encoding="utf-8")
        if self.git_of(self.clone, "status", "--porcelain"):
            self.commit("Give the release its day")

    def tag(self, name, *words):
        self.git_of(self.clone, "-c", "user.name=test", "-c", "user.email=test@localhost", "tag", "--annotate",
                    "--message", "A release", name, *words)

    def test_ready(self):
        self.date()
        self.tag(f"v{self.version}")
        code, said = self.release(f"v{self.version}")
        missing = [part for part in ("wheel", "package", "site") if not (self.clone / f"scripts/{part}.sh").exists()]
        if missing:
            self.assertEqual(said.splitlines()[1:], [
                f"  scripts/{part}.sh is not there, and makes a part of the release" for part in missing])
            self.skipTest(f"nothing makes {missing}")
        self.assertEqual(code, 0, said)
        self.assertIn(f"would make dist/{self.version}", said)
        self.assertFalse((self.clone / "dist").exists())

    def test_everything_that_is_wrong_is_told(self):
        self.date()
        self.git_of(self.clone, "tag", "v9.9.9")
        self.replace("CHANGELOG.md", "(2026-12-01)", "(unreleased)")
        self.replace("debian/changelog", ") unstable;", ") UNRELEASED;")
        self.replace("include/hocket/hocket.h", "HOCKET_VERSION_PATCH 0", "HOCKET_VERSION_PATCH 7")
        (self.clone / "scripts/package.sh").unlink()
        code, said = self.release("v9.9.9")
        self.assertEqual(code, 1, said)
        for word in ("not committed", f"CMakeLists.txt has version {self.version}: its tag is v{self.version}",
                     "CHANGELOG.md begins with", "UNRELEASED", "HOCKET_VERSION_PATCH is 7", "scripts/package.sh"):
            self.assertIn(word, said)

    def test_what_nobody_filled_in(self):
        self.date()
        self.git_of(self.clone, "tag", f"v{self.version}")
        for path, text in (("docs/get-it.md", "OWNER\n"), ("debian/control", "maintainers@hocket.example\n"),
                           ("bench/results/one-machine/python.md", "| to be measured |\n")):
            with (self.clone / path).open("a", encoding="utf-8") as file:
                file.write(text)
        os.symlink("nowhere", self.clone / ".venv")
        code, said = self.release(f"v{self.version}")
        self.assertEqual(code, 1, said)
        for word in ("docs/get-it.md has OWNER", "maintainers@hocket.example is no address", "into debian/control\n",
                     "measure for bench/results/one-machine/python.md\n", "lightweight tag", ".venv is a link"):
            self.assertIn(word, said)

    def test_programs_that_are_missing(self):
        """Before anything is built: with no more on the path than the checks themselves need."""
        self.date()
        self.tag(f"v{self.version}")
        folder = self.clone.parent / "programs"
        folder.mkdir()
        for name in ("bash", "env", "git", "python3", "sed", "grep", "head", "paste", "sort", "id", "dirname", "nproc"):
            (folder / name).symlink_to(shutil.which(name))
        code, said = self.release(f"v{self.version}", PATH=str(folder))
        self.assertEqual(code, 1, said)
        self.assertIn("missing: cmake ninja c++ clang-19 pkg-config mpicc.mpich mpicc.openmpi: run ./dev setup", said)

    def test_tag_of_another_commit(self):
        self.date()
        self.tag(f"v{self.version}", "HEAD~1")
        code, said = self.release(f"v{self.version}")
        self.assertEqual(code, 1, said)
        self.assertIn(f"what is checked out is not v{self.version}", said)


if __name__ == "__main__":
    unittest.main()
