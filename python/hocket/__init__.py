# SPDX-License-Identifier: BSD-3-Clause
"""Collective communication for ordinary Linux machines. The command, libraries and headers lie in the environment."""

from importlib import metadata

__version__ = metadata.version("hocket")
