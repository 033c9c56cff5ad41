# SPDX-License-Identifier: BSD-3-Clause
"""usage: action_install_test.py FOLDER_WITH_WHEEL FOLDER_WITH_OTHERS

Runs the first step of packaging/action/action.yml as a runner does, with the wheel of this tree, what it depends on
from the other folder and no index, and then the command as later steps find it."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from action_test import ACTION, script_of

WHEELS = OTHERS = ""
SKIPPED = 77


class FirstStep(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.temporary = pathlib.Path(folder.name) / "of the runner"
        self.temporary.mkdir()
        self.paths = self.temporary / "paths"
        self.version = re.search(r"^    default: (\d+\.\d+\.\d+)$", ACTION.read_text(encoding="utf-8"),
                                 re.MULTILINE).group(1)

    def step(self, version):
        environment = dict(os.environ, VERSION=version, WHEELS=WHEELS, RUNNER_TEMP=str(self.temporary),
                           GITHUB_PATH=str(self.paths), PIP_NO_INDEX="1", PIP_FIND_LINKS=OTHERS,
                           PATH=f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}")
        return subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script_of("Install hocket")],
                              env=environment, capture_output=True, text=True, timeout=120, check=False)

    def test_later_steps_find_the_version_or_the_step_fails(self):
        result = self.step(self.version)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        added = self.paths.read_text(encoding="utf-8").splitlines()
        self.assertEqual(added, [str(self.temporary / "hocket/bin")])
        later = subprocess.run(["hocket", "--version"], env=dict(os.environ, PATH=f"{added[0]}:/usr/bin:/bin"),
                               capture_output=True, text=True, timeout=60, check=False)
        self.assertIn(self.version, later.stdout, later.stderr)
        # The same environment: another takes seconds.
        self.paths.unlink()
        result = self.step("0.0.9")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("hocket==0.0.9", result.stderr)
        self.assertFalse(self.paths.exists())


if __name__ == "__main__":
    WHEELS, others = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
    for folder, package in ((pathlib.Path(WHEELS), "hocket"), (others, "cffi")):
        if not list(folder.glob(f"{package}-*.whl")):
            print(f"no wheel of {package} in {folder}: ./dev setup, then ./dev test -R integration.wheel.mpich")
            sys.exit(SKIPPED)
    OTHERS = others.resolve().as_uri()  # pip would take a space for the end of a path
    unittest.main()
