# SPDX-License-Identifier: BSD-3-Clause
"""What calls raise: Error, and a subclass for each status of the C API that programs tell apart."""

from __future__ import annotations

import enum
from typing import NoReturn, Union


class Status(enum.IntEnum):
    """hocket_status_t of the C API."""

    OK = 0
    IN_PROGRESS = 1
    INVALID_ARGUMENT = -1
    NOT_SUPPORTED = -2
    NO_MEMORY = -3
    PEER_FAILED = -4
    MISMATCH = -5
    SYSTEM = -6
    TIMEOUT = -7
    BROKEN = -8


_KNOWN = frozenset(map(int, Status))


class Error(Exception):
    """A call has failed.

    Attributes:
        status: Which way, as the C API says it; a plain number if only a newer library knows it.
    """

    status: Union[Status, int]

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = Status(status) if status in _KNOWN else int(status)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (int(self.status), *self.args)


class InvalidArgument(Error, ValueError):
    """An argument is wrong; the message names it, its value and the remedy. Other ranks know nothing of it."""


class NotSupported(Error):
    """Ranks that can't be served, or a reduction of elements that are too long."""


class NoMemory(Error, MemoryError):
    """There is no memory left, or none of what ranks may share (HOCKET_MEMORY)."""


class PeerFailed(Error):
    """Another rank has ended or left. The communicator is broken."""


class Mismatch(Error):
    """Another rank is in another collective, or gave another root, operation or length. The communicator is broken."""


class SystemFailed(Error):
    """A system call has failed."""


class TimedOut(Error):
    """Ranks didn't come within HOCKET_SETUP_TIMEOUT_S."""


class Broken(Error):
    """An earlier call on this communicator has failed, or a rank has given it up."""


_CLASSES: dict[int, type[Error]] = {
    Status.INVALID_ARGUMENT: InvalidArgument,
    Status.NOT_SUPPORTED: NotSupported,
    Status.NO_MEMORY: NoMemory,
    Status.PEER_FAILED: PeerFailed,
    Status.MISMATCH: Mismatch,
    Status.SYSTEM: SystemFailed,
    Status.TIMEOUT: TimedOut,
    Status.BROKEN: Broken,
}


def error_of(status: int, text: str) -> Error:
    """The exception for a status and what hocket_error_text() said."""
    # The library speaks of C.
    text = text.replace("HOCKET_IN_PLACE", "hocket.IN_PLACE").replace("`comm` is NULL", "the communicator is freed")
    text = text.replace("test it until HOCKET_OK", "test() it until that is True")
    if "is not defined for type" in text:
        text += "; convert the array by astype(), or pass another operation"
    return _CLASSES.get(status, Error)(status, text)


def not_copied(thing: object) -> NoReturn:
    """For __reduce__, which copy and pickle ask: the library's object is one, and belongs to this process."""
    raise TypeError(f"{thing!r} can't be copied or pickled: it stands for something in this process that is there once")


def refusal(text: str) -> InvalidArgument:
    """Of an argument that the library was not even asked about."""
    return InvalidArgument(Status.INVALID_ARGUMENT, text)
