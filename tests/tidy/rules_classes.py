# SPDX-License-Identifier: BSD-3-Clause
"""How much a class may hold. Data members are those of each object, static ones aside. Member functions are all that
are written, constructors included, those by `= default` and `= delete` aside."""

from cxx import outline
from tree import Finding

MEMBER_LIMIT = 20
FUNCTION_LIMIT = 25

# Larger ones, each with its reason. What is divided leaves its list.
MANY_MEMBERS = {
    "src/communicator/context.h:Context": "to be divided",
    "src/engines/multicast_verbs/port.h:VerbsPort": "to be divided",
    "src/engines/shared_memory/memory_transport.h:MemoryTransport": "to be divided",
}
MANY_FUNCTIONS = {
    "src/communicator/communicator.h:Communicator": "to be divided",
    "src/communicator/context.h:Context": "to be divided",
    "src/communicator/setup/setup.h:Setup": "to be divided",
    "src/engines/shared_memory/memory_transport.h:MemoryTransport": "to be divided",
    "src/engines/wire/channel.h:Channel": "to be divided",
    "src/schedule/builder.h:Builder": "one function a kind of step: the language that algorithms are written in",
    "src/simulation/engine/state.h:Engine::State": "what happens to ranks, messages and cores, one source for each",
    "tests/unit/protocol/hostile_packets.h:HostilePackets": "one function a kind of packet",
    "tests/unit/protocol/protocol_network.h:ProtocolNetwork": "to be divided",
    "tools/nic/agent_engine.cc:AgentEngine": "to be divided",
    "tools/nic/kernel_engine.cc:KernelEngine": "to be divided",
    "tools/nic/kernel_programs.h:KernelPrograms": "to be divided",
}


def is_record(made):
    """Plain data, such as options or what goes over a wire: no base, no access label, no function that changes it. It
    may have as many members as it has things to tell."""
    return not made.is_derived and not made.has_labels and all(
        function.is_const or function.is_static for function in made.functions)


def functions_of(made):
    return [function for function in made.functions if function.is_written]


def classes(tree):
    """(path, class) of all."""
    for path in tree.cxx():
        for made in outline(tree, path).classes:
            yield path, made


def check_classes(tree):
    large = set()
    for path, made in classes(tree):
        for what, count, limit, listed in (
                ("data members", 0 if is_record(made) else len(made.members), MEMBER_LIMIT, MANY_MEMBERS),
                ("member functions", len(functions_of(made)), FUNCTION_LIMIT, MANY_FUNCTIONS)):
            if count > limit:
                large.add((what, f"{path}:{made.name}"))
                if f"{path}:{made.name}" not in listed:
                    yield Finding("class-size", path, made.line, f"{made.name} has {count} {what}, {limit} at most")
    for what, table, listed in (("data members", "MANY_MEMBERS", MANY_MEMBERS),
                                ("member functions", "MANY_FUNCTIONS", MANY_FUNCTIONS)):
        for key in listed:
            path, name = key.split(":", 1)
            if tree.exists(path) and (what, key) not in large:
                yield Finding("class-size", path, 1, f"{name} no longer has too many {what}: take it out of {table}")
