# SPDX-License-Identifier: BSD-3-Clause
"""Groups of ranks that communicate collectively."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, NoReturn, Optional

from ._api import NULL, check, ffi, lib
from ._exchanges import Exchanges
from ._reductions import Reductions
from ._vectors import Vectors
from .errors import Error, not_copied

if TYPE_CHECKING:
    from .context import Context

_TEXT_BYTES = 1 << 20


class Communicator(Reductions, Exchanges, Vectors):
    """A group of ranks. hocket.world() makes the first; split() and dup() make others.

    All ranks of a communicator call the same collectives in the same order, with the same root and operation, and
    counts and dtypes that agree. Arrays are NumPy's, contiguous in C order; which shape they have makes no difference
    unless a method says so. `input` and `output` must not overlap: hocket.IN_PLACE is for that. Each collective has a
    form that ends with `_start`, which returns a Request at once, and one that ends with `_init`, which returns a
    PersistentRequest: it takes the same, and is started again and again.

    Threads: one at a time uses a communicator; different threads may use different ones at the same time. A call
    releases the interpreter's lock. Python looks at Ctrl-C when a call is over.

    A communicator that is not freed lives until the program's end, and is freed then: ranks wait for each other. If a
    program ends by an exception, other ranks get an error; sys.exit() waits like any other end. What has gone wrong
    and shows only then is told on stderr, and the exit status is 120.
    """

    __slots__ = ()

    @classmethod
    def _of(cls, context: Context, handle: Any, key: tuple[int, ...]) -> Communicator:
        made = cls.__new__(cls)
        number = ffi.new("int *")
        check(lib.hocket_comm_rank(handle, number))
        made._rank = int(number[0])
        check(lib.hocket_comm_size(handle, number))
        made._size = int(number[0])
        made._comm, made._context, made._dropped, made._requests = handle, context, [], set()
        made._key, made._children = key, 0
        context._communicators.append(made)
        return made

    def __init__(self) -> None:
        raise TypeError("Communicator: hocket.world(), split(), dup() and Context make communicators")

    def __reduce__(self) -> NoReturn:
        not_copied(self)

    def __repr__(self) -> str:
        state = ", freed" if self.is_freed else ""
        return f"<hocket.Communicator, rank {self._rank} of {self._size}{state}>"

    @property
    def rank(self) -> int:
        """This rank's number, from 0 to size-1."""
        return self._rank

    @property
    def size(self) -> int:
        """How many ranks there are."""
        return self._size

    @property
    def is_freed(self) -> bool:
        """Whether free() has ended it."""
        return bool(self._comm == NULL)

    def split(self, color: Optional[int], key: int = 0) -> Optional[Communicator]:
        """Ranks of the same color form a new communicator. Collective.

        Args:
            color: Which one; None or a negative number: none.
            key: Ranks are ordered by it, and then by their rank here.

        Returns:
            The new communicator, or None where color was none.

        Raises:
            Error: What goes wrong with one color's communicator is an error on its ranks only.
        """
        box, of_child = ffi.new("hocket_comm_t **"), self._key_of_child()
        check(lib.hocket_comm_split(self._comm, -1 if color is None else color, key, box))
        return Communicator._of(self._context, box[0], of_child) if box[0] != NULL else None

    def dup(self) -> Communicator:
        """A new communicator of the same ranks in the same order. Collective."""
        box, of_child = ffi.new("hocket_comm_t **"), self._key_of_child()
        check(lib.hocket_comm_dup(self._comm, box))
        return Communicator._of(self._context, box[0], of_child)

    def _key_of_child(self) -> tuple[int, ...]:
        self._children += 1
        return (*self._key, self._children)

    def free(self) -> None:
        """Ends the communicator. Collective; waits for collectives of peers that are still running. A freed one may be
        freed again.

        Raises:
            InvalidArgument: Requests on it are not complete.
        """
        if self._comm == NULL:
            return
        self._retire_dropped()
        check(lib.hocket_comm_destroy(self._comm))
        self._comm = NULL
        self._context._communicators.remove(self)

    def __enter__(self) -> Communicator:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 _traceback: Optional[types.TracebackType]) -> None:
        """Frees it; if an exception ends the body, gives it up before, for peers may wait for this rank elsewhere. Its
        requests end with an error then."""
        if kind is None:
            self.free()
        elif not self.is_freed:
            try:
                self.abort(f"{kind.__name__}: {error}")
                self._retire_requests()
                self.free()
            except Error:
                pass  # what ends the body says more

    def explain(self, collective: str, size_bytes: int = 0) -> str:
        """What would run for such a call on this communicator, and why.

        Args:
            collective: Its name, "allreduce".
            size_bytes: Of the message, or of a block where there is a block for each rank; barrier, gatherv, scatterv
                and alltoallv ignore it.

        Returns:
            A text of several lines.

        Raises:
            InvalidArgument: There is no such collective; the message names those that there are.
        """
        text = ffi.new("char[]", _TEXT_BYTES)
        check(lib.hocket_explain(self._comm, collective.encode(), size_bytes, text, _TEXT_BYTES))
        return str(ffi.string(text).decode())

    def force(self, collective: str, algorithm: Optional[str]) -> None:
        """Forces the algorithm for a collective on this communicator. Every rank must force the same.

        Args:
            collective: Its name, "allreduce". A vector version has a choice of its own.
            algorithm: As "ring" or "tree:degree=3,segment=16K"; None: back to the table.

        Raises:
            InvalidArgument: There is no such collective or algorithm, or it can't serve these ranks.
        """
        check(lib.hocket_force(self._comm, collective.encode(), NULL if algorithm is None else ffi.new(
            "char[]", algorithm.encode())))
