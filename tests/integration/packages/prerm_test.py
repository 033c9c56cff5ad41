# SPDX-License-Identifier: BSD-3-Clause
"""usage: prerm_test.py HOCKET      as root

What dpkg runs before it removes the command: it ends labs and NIC engines, which nothing else could end afterwards. In
namespaces of its own and with a folder of labs of its own, so that nobody's are touched."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PRERM = pathlib.Path(__file__).parents[3] / "debian/hocket.prerm"
HOCKET = ""
SKIPPED = 77
# Ends with what is still there, in two lines.
SCRIPT = """
ip link add here type veth peer name there
ip address add 10.9.9.1/24 dev here
for name in lo here there; do ip link set "$name" up; done
hocket nic up here --hook tc >&2
hocket lab up 2 >&2
sh "$1" "$2" >&2
hocket nic status --json | grep -c interface
ls "$HOCKET_LAB_DIRECTORY" 2>/dev/null | wc -l
[ "$2" = remove ] || sh "$1" remove >&2
"""


class Prerm(unittest.TestCase):
    def left_after(self, action):
        with tempfile.TemporaryDirectory() as folder:
            settings = dict(os.environ, HOCKET_LAB_DIRECTORY=os.path.join(folder, "labs"),
                            PATH=f"{os.path.dirname(HOCKET)}:{os.environ['PATH']}")
            result = subprocess.run(["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "bash",
                                     "-c", SCRIPT, "bash", str(PRERM), action],
                                    env=settings, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout.split()

    def test_removal_ends_labs_and_engines(self):
        self.assertEqual(self.left_after("remove"), ["0", "0"])

    def test_upgrade_leaves_them(self):
        self.assertEqual(self.left_after("upgrade"), ["1", "1"])


if __name__ == "__main__":
    HOCKET = sys.argv.pop(1)
    if os.geteuid() != 0:
        print("labs and NIC engines need root")
        sys.exit(SKIPPED)
    unittest.main()
