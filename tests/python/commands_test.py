# SPDX-License-Identifier: BSD-3-Clause
"""Where the package finds library and command, what it says when it doesn't, and the command lines that it makes."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy
from hocket_python import COMMAND, LIBRARY, LIMIT_S, ROOT, PythonTest, environment, here, main, run

here()
import hocket  # noqa: E402  pylint: disable=wrong-import-position

SHOW = "import hocket; hocket.world(); print(hocket.command(), open('/proc/self/maps').read())"


class Finding(PythonTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hocket-python-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()

    def laid(self, package, libraries):
        """The package and, beside it or not, its library and command, as an installer lays them."""
        shutil.copytree(ROOT / "python" / "hocket", self.folder / package / "hocket",
                        ignore=shutil.ignore_patterns("__pycache__"))
        if libraries is not None:
            for source, target in ((LIBRARY, "lib/libhocket.so.0"), (COMMAND, "bin/hocket")):
                (self.folder / libraries / target).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source.resolve(), self.folder / libraries / target)
        return self.folder / package

    def loaded(self, path, **settings):
        return run(sys.executable, "-c", SHOW, PYTHONPATH=str(path), **{"HOCKET_LIBRARY": None, **settings})

    def test_as_pip_lays_it(self):
        for package, libraries in (("venv/lib/python3.9/site-packages", "venv"), ("target", "target"),
                                   ("usr/lib/python3/dist-packages", "usr")):
            with self.subTest(package):
                result = self.expect(self.loaded(self.laid(package, libraries)))
                self.assertTrue(result.stdout.startswith(f"{self.folder / libraries}/bin/hocket "), result.stdout[:200])
                self.assertIn(f"{self.folder / libraries}/lib/libhocket.so.0", result.stdout)

    def test_in_a_checkout(self):
        self.laid("usr/lib/python3/dist-packages", "usr")  # not what the checkout's package was made for
        path = self.laid("usr/src/checkout/python", "usr/src/checkout/build/release")
        result = self.expect(self.loaded(path))
        self.assertIn(f"{self.folder}/usr/src/checkout/build/release/lib/libhocket.so.0", result.stdout)

    def test_the_systems(self):
        path = self.laid("alone/a/b/c", None)
        result = self.expect(self.loaded(path, LD_LIBRARY_PATH=str(LIBRARY.parent),
                                         PATH=f"{COMMAND.parent}:{os.environ['PATH']}"))
        self.assertIn(str(LIBRARY.resolve()), result.stdout)
        self.assertTrue(result.stdout.startswith(str(COMMAND)))

    def test_what_is_asked_for_wins_and_is_not_replaced(self):
        path = self.laid("venv/lib/python3.9/site-packages", "venv")
        result = self.expect(self.loaded(path, HOCKET_LIBRARY=str(LIBRARY)))
        self.assertIn(str(LIBRARY.resolve()), result.stdout)
        self.assertTrue(result.stdout.startswith(str(COMMAND)))
        result = self.expect(self.loaded(path, HOCKET_LIBRARY="/nowhere/libhocket.so.0"), 1)
        self.assertRegex(result.stderr, "ImportError: .*HOCKET_LIBRARY.*/nowhere/libhocket.so.0")

    def test_a_library_that_is_nowhere(self):
        path = self.laid("alone/a/b/c", None)
        result = self.expect(self.loaded(path), 1)
        for word in ("ImportError", "libhocket.so.0", f"{path}/lib/", "HOCKET_LIBRARY", "./dev build"):
            self.assertIn(word, result.stderr)
        result = run(sys.executable, "-m", "hocket", "info", PYTHONPATH=str(path), HOCKET_LIBRARY=None,
                     PATH="/usr/bin:/bin")
        self.expect(result, 1)
        self.assertRegex(result.stderr, "no `hocket` command; searched .*bin/hocket")

    def test_what_is_no_library(self):
        result = self.expect(run(sys.executable, "-c", SHOW, HOCKET_LIBRARY=__file__), 1)
        self.assertRegex(result.stderr, "ImportError: hocket: HOCKET_LIBRARY names a library that can't be loaded")

    def test_without_numpy_or_cffi(self):
        for module, words, code in (
                ("numpy", r"pip install 'hocket\[numpy\]'", "import hocket; hocket.world().barrier(); hocket.empty(3)"),
                ("numpy", r"pip install 'hocket\[numpy\]'", "import hocket; hocket.world().allreduce([1])"),
                ("_cffi_backend", "hocket needs cffi", "import hocket; print(hocket.command()); hocket.world()")):
            result = self.expect(run(sys.executable, "-c", f"import sys; sys.modules['{module}'] = None; {code}"), 1)
            self.assertRegex(result.stderr, f"ImportError: .*{words}")

    def test_importing_it_loads_neither_numpy_nor_the_library(self):
        code = "import sys, hocket; print({'numpy', '_cffi_backend', 'asyncio'} & set(sys.modules))"
        self.assertEqual(self.expect(run(sys.executable, "-c", code)).stdout, "set()\n")

    def test_the_library_stays_loaded(self):
        code = ("import hocket._api as api\n"
                "api.ffi.dlclose(api.lib)\n"
                "print('libhocket' in open('/proc/self/maps').read())\n")
        self.assertEqual(self.expect(run(sys.executable, "-c", code)).stdout, "True\n")

    def test_versions_agree(self):
        self.assertEqual(hocket.__version__, hocket.version())
        build = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        [number] = re.findall(r"^project\(hocket VERSION ([\d.]+)", build, re.MULTILINE)
        self.assertEqual(hocket.__version__, number)

    def test_names_that_do_not_exist(self):
        with self.assertRaisesRegex(AttributeError, "no attribute 'allreduces'"):
            hocket.allreduces  # pylint: disable=pointless-statement
        for name in hocket.__all__:
            self.assertIn(name, dir(hocket))
            found = getattr(hocket, name)
            if isinstance(found, (hocket.Operation, numpy.dtype)):
                self.assertRegex(str(found) + repr(found), f"hocket.{name}|^[^O]*'(?:value|logical)'")
            elif name != "IN_PLACE":
                self.assertEqual(found.__name__, name)
                self.assertIsNotNone(found.__doc__)


class Lines(PythonTest):
    def test_the_command_as_a_module(self):
        result = self.expect(run(sys.executable, "-m", "hocket", "algorithms", "allreduce"))
        self.assertEqual(result.stdout, run(COMMAND, "algorithms", "allreduce").stdout)
        self.expect(run(sys.executable, "-m", "hocket", "no-such-verb"), 2)

    def test_exec_args(self):
        self.assertEqual(hocket.exec_args(["mpirun", "-n", "2", pathlib.Path("app")], mpi="mpich", stats=True),
                         [str(COMMAND), "exec", "--stats", "--mpi", "mpich", "--", "mpirun", "-n", "2", "app"])
        self.assertEqual(hocket.exec_args(["a"], stats=pathlib.Path("job.json"))[1:],
                         ["exec", "--stats=job.json", "--", "a"])
        self.assertEqual(hocket.exec_args(["a"], check=True, disable=True, oversubscribe=True),
                         [str(COMMAND), "exec", "--check", "--disable", "--oversubscribe", "--", "a"])
        for wrong, kind in ((lambda: hocket.exec_args([]), ValueError), (lambda: hocket.exec_args("mpirun"), TypeError),
                            (lambda: hocket.exec_args(["a"], mpi="lam"), ValueError),
                            (lambda: hocket.run_args(["a"], 0), ValueError)):
            with self.assertRaises(kind):
                wrong()

    def test_run_args(self):
        line = hocket.run_args(["sh", "-c", "echo ${HOCKET_RUN%%/*}"], 3, label=True, timeout_s=LIMIT_S, bind="cores")
        result = subprocess.run(line, env=environment(), capture_output=True, text=True, check=True, timeout=LIMIT_S)
        self.assertEqual(sorted(result.stdout.splitlines()), ["[0] 0", "[1] 1", "[2] 2"])

    def test_exec_environment(self):
        found = hocket.exec_environment(mpi="mpich", stats=True)
        self.assertEqual(found["HOCKET_STATS"], "1")
        self.assertTrue(found["LD_PRELOAD"].endswith("libhocket-mpi-mpich.so"))
        with self.assertRaisesRegex(RuntimeError, "--mpi"):
            hocket.exec_environment(["true"])
        with self.assertRaisesRegex(ValueError, "`line` is empty"):
            hocket.exec_environment()


if __name__ == "__main__":
    main()
