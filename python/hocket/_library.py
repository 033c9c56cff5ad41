# SPDX-License-Identifier: BSD-3-Clause
"""Finds libhocket and the hocket command, without loading either: in HOCKET_LIBRARY, as pip lays files, in a checkout's
build, and where the system looks."""

from __future__ import annotations

import os
import pathlib
import shutil
from typing import Iterator

LIBRARY = "libhocket.so.0"
SETTING = "HOCKET_LIBRARY"

_PACKAGE = pathlib.Path(__file__).resolve().parent


def _prefixes() -> Iterator[pathlib.Path]:
    """Folders that may have bin/hocket and lib/libhocket.so.0 in them, the likeliest first."""
    above = list(_PACKAGE.parents)
    # PREFIX/lib/python3.X/site-packages/hocket. A checkout is not taken for one: what is installed above it is not its
    # build.
    if len(above) > 3 and above[0].name in ("site-packages", "dist-packages"):
        yield above[3]
    yield above[0]  # pip install --target FOLDER: FOLDER/hocket
    if len(above) > 1:
        yield above[1] / "build" / "release"  # a checkout: ROOT/python/hocket


def libraries() -> list[str]:
    """What to load, the first that can be: paths of files that exist, then a name for the system's own search."""
    asked = os.environ.get(SETTING)
    if asked:
        return [asked]
    return [str(path) for path in _places() if path.exists()] + [LIBRARY]


def places() -> list[str]:
    """Where libraries() looks, for a sentence that says so."""
    return [str(path) for path in _places()] + [f"{LIBRARY} where the system looks (LD_LIBRARY_PATH, ldconfig)"]


def _places() -> list[pathlib.Path]:
    return [prefix / "lib" / LIBRARY for prefix in _prefixes()]


def command() -> str:
    """The path of the `hocket` command: beside the library, else the one on PATH.

    Returns:
        The path, absolute where the command lies beside the library.

    Raises:
        FileNotFoundError: It is nowhere; the message names the places.
    """
    asked = os.environ.get(SETTING)
    prefixes = [pathlib.Path(asked).resolve().parent.parent] if asked else []
    prefixes += _prefixes()
    tried = [prefix / "bin" / "hocket" for prefix in prefixes]
    for path in tried:
        if os.access(path, os.X_OK) and path.is_file():
            return str(path)
    found = shutil.which("hocket")
    if found:
        return found
    raise FileNotFoundError("hocket: there is no `hocket` command; searched " + ", ".join(map(str, tried)) +
                            " and PATH. Install hocket, build it (./dev build), or name its library by "
                            f"{SETTING}=PREFIX/lib/{LIBRARY}")
