# SPDX-License-Identifier: BSD-3-Clause
"""A rank's endpoint, how its communicators come about, and how they end with the program."""

from __future__ import annotations

import itertools
import os
import threading
import types
from typing import Any, Callable, NoReturn, Optional

from . import _ending
from ._api import NULL, check, ffi, lib
from .communicator import Communicator
from .errors import not_copied, refusal

# Held while the default ones are looked for and made: by two threads at a time, too, they are made once. A signal
# handler may ask for them.
_making = threading.RLock()
# All ranks make worlds in the same order; of communicators that the program brings about nobody knows.
_WORLD, _BROUGHT_ABOUT = 0, 1
_numbers = {kind: itertools.count() for kind in (_WORLD, _BROUGHT_ABOUT)}
_default: Optional[Context] = None
_world: Optional[Communicator] = None


class Context:
    """A rank's share of memory that other ranks can map, and its way of waiting.

    Most programs need none of their own: hocket.world() makes one on its first call. Any thread may use it. After
    fork() the child must not use objects of its parent.

    Args:
        memory_limit: Bytes that peers may map of this rank; 0: what HOCKET_MEMORY says, or a default.
        node: Ranks that give different numbers are on different nodes, though they could share memory; for trials.

    Raises:
        InvalidArgument: A HOCKET_ variable of the environment can't be understood; the message names it.
        Error: There is no memory, or a system call has failed.
    """

    __slots__ = ("__weakref__", "_arrays", "_communicators", "_context", "_owner")

    def __init__(self, *, memory_limit: int = 0, node: int = 0) -> None:
        options = ffi.new("hocket_context_options_t *")
        options.struct_size = ffi.sizeof("hocket_context_options_t")
        options.memory_limit = memory_limit
        options.node = node
        box = ffi.new("hocket_context_t **")
        check(lib.hocket_context_create(options, box))
        self._context = box[0]
        self._owner = os.getpid()
        self._arrays: set[int] = set()  # their addresses
        self._communicators: list[Communicator] = []
        _ending.add(self)

    def __reduce__(self) -> NoReturn:
        not_copied(self)

    def world(self) -> Communicator:
        """A communicator of the ranks that `hocket run` has started; of one rank where a program was started by hand.
        Collective over them; each call makes another one.

        Raises:
            TimedOut: Ranks didn't come within HOCKET_SETUP_TIMEOUT_S.
            PeerFailed: One has ended instead of coming.
            Mismatch: `hocket run` is of another version than the library.
        """
        box, key = ffi.new("hocket_comm_t **"), (_WORLD, next(_numbers[_WORLD]))
        check(lib.hocket_comm_world(self._context, box))
        return Communicator._of(self, box[0], key)

    def communicator(self, rank: int, size: int, allgather: Callable[[bytes], bytes]) -> Communicator:
        """A communicator of ranks that find each other by means of the program: those of Dask, say, or of an MPI.
        Collective over them.

        Args:
            rank: This rank's number, from 0 to size-1.
            size: How many ranks there are. All are on this machine.
            allgather: Called with this rank's bytes, as many on all ranks, perhaps several times; waits for the others
                and returns the bytes of all ranks, one behind the other in the order of ranks.

        Raises:
            Error: Ranks can't be served, or `allgather` has returned something else. What it raises is raised here;
                other ranks wait for it then, as they would for any rank that doesn't come.
        """
        failures: list[BaseException] = []

        def gather(mine: Any, all_of_them: Any, count: int, _user: Any) -> int:
            try:
                answer = allgather(bytes(ffi.buffer(mine, count)))
                if len(answer) != size * count:
                    raise refusal(f"communicator: `allgather` has returned {len(answer)} bytes; {count} from each of "
                                  f"{size} ranks are needed")
                ffi.memmove(all_of_them, answer, size * count)
            except BaseException as failure:  # pylint: disable=broad-exception-caught
                failures.append(failure)
                return 1
            return 0

        def note(_kind: Any, failure: BaseException, trace: Any) -> None:
            failures.append(failure.with_traceback(trace))  # a signal handler's, before the first line above

        bootstrap = ffi.new("hocket_bootstrap_t *")
        bootstrap.rank, bootstrap.size = rank, size
        called = ffi.callback(dict(ffi.typeof("hocket_bootstrap_t").fields)["allgather"].type, gather, 1, note)
        bootstrap.allgather = called
        box, key = ffi.new("hocket_comm_t **"), (_BROUGHT_ABOUT, next(_numbers[_BROUGHT_ABOUT]))
        status = lib.hocket_comm_create(self._context, bootstrap, box)
        if failures:
            raise failures[0]
        check(status)
        return Communicator._of(self, box[0], key)

    def close(self) -> None:
        """Ends the context. Its communicators must be freed, and its arrays (hocket.empty) gone.

        Raises:
            InvalidArgument: There still are some.
        """
        if self._context == NULL:
            return
        if self._arrays:
            raise refusal(f"close: {len(self._arrays)} arrays made by hocket.empty() still live in the context's "
                          "memory; drop them and their views first")
        check(lib.hocket_context_destroy(self._context))
        self._context = NULL
        _ending.remove(self)

    def __enter__(self) -> Context:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], _error: Optional[BaseException],
                 _traceback: Optional[types.TracebackType]) -> None:
        if kind is None:
            self.close()


def default_context() -> Context:
    """The context of hocket.world() and hocket.empty(), made on the first call."""
    global _default  # pylint: disable=global-statement
    found = _default
    if found is None or found._context == NULL:
        with _making:
            found = _default
            if found is None or found._context == NULL:
                found = _default = Context()
    return found


def world() -> Communicator:
    """The communicator of the ranks that `hocket run` has started; of one rank where a program was started by hand.

    Collective on the first call, which makes it; later calls return the same one, unless it was freed.

    Raises:
        TimedOut: Ranks didn't come within HOCKET_SETUP_TIMEOUT_S.
        PeerFailed: One has ended instead of coming.
        Mismatch: `hocket run` is of another version than the library.
        InvalidArgument: A HOCKET_ variable of the environment can't be understood; the message names it.
    """
    global _world  # pylint: disable=global-statement
    found = _world
    if found is None or found.is_freed:
        with _making:
            found = _world
            if found is None or found.is_freed:
                found = _world = default_context().world()
    return found

