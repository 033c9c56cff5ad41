# SPDX-License-Identifier: BSD-3-Clause
"""`python -m hocket ARGUMENTS` is `hocket ARGUMENTS`."""

import os
import sys

from ._library import command

if __name__ == "__main__":
    try:
        path = command()
    except FileNotFoundError as missing:
        sys.exit(str(missing))
    os.execv(path, [path, *sys.argv[1:]])
