// SPDX-License-Identifier: BSD-3-Clause
// The table of settings: to add a variable, add a row. Those that force an algorithm are made of collectives.def.
#include <array>
#include <limits>

#include "base/environment.h"

namespace hocket::environment {
namespace {

constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
constexpr const char* kAlgorithm = "algorithm[:parameter=value,...], or mpi";

constexpr Setting flag(const char* name, const char* help) { return {name, Kind::kFlag, "0|1", "0", 0, 1, help}; }

constexpr Setting forced(const char* name, const char* help) { return {name, Kind::kText, kAlgorithm, "", 0, 0, help}; }

constexpr std::array kSettings = {
    flag("HOCKET_DISABLE", "pass every call through to the MPI, as if hocket were not there"),
    Setting{"HOCKET_STATS", Kind::kFlagOrFile, "0|1|FILE.json", "0", 0, 1,
            "at the end print how many calls were carried out or passed through, why, and where their time went; or "
            "write it to a file"},
    flag("HOCKET_CHECK",
         "compare what all ranks pass before every call that hocket carries out, but for started ones of MPI programs; "
         "slow"),
    Setting{"HOCKET_LOG", Kind::kChoice, "error|warn|info|debug", "warn", 0, 0, "what is reported on stderr"},
    Setting{"HOCKET_WAIT", Kind::kChoice, "auto|spin|yield|sleep", "auto", 0, 0,
            "how a rank waits for a late one; auto looks at the cores and the load"},
    Setting{"HOCKET_SLICE_US", Kind::kInteger, "microseconds", "100", 0, 100000,
            "the time slice that a rank asks for when it has to share its core; 0: never, 1 to 99 count as 100"},
    Setting{"HOCKET_MPI_SETTINGS", Kind::kFlag, "0|1", "1", 0, 1,
            "let the MPI yield by its own settings where ranks share cores, unless these are set already"},
    Setting{"HOCKET_MEMORY", Kind::kSize, "bytes", "0", 0, kAny,
            "memory of one rank that its peers may map, 1M at least; 0: chosen from what the machine has"},
    Setting{"HOCKET_SETUP_TIMEOUT_S", Kind::kInteger, "seconds", "60", 1, 86400,
            "how long ranks wait for each other while a communicator is set up; under an MPI, for who has not come, "
            "they say so after that time and wait on"},
    Setting{"HOCKET_LATE_S", Kind::kInteger, "seconds", "10", 0, 86400,
            "after so long in a collective a rank says which ranks have not come, and what they do; 0: never"},
    Setting{"HOCKET_LATE_ACTION", Kind::kChoice, "say|abort", "say", 0, 0,
            "abort: the collective in which ranks are late for so long ends with an error, and so the job, as a rule"},
    Setting{"HOCKET_TRACE", Kind::kText, "file, or ring:N:file", "", 0, 0,
            "writes the calls of all ranks for Perfetto: all of them, or a rank's last N when something happens; %h in "
            "the name is the host's"},
    Setting{"HOCKET_METRICS", Kind::kText, "folder", "", 0, 0,
            "where ranks write for Prometheus how long their job waits, a file a job and machine, every ten seconds"},
    Setting{"HOCKET_NODE", Kind::kText, "name", "", 0, 0,
            "ranks with different names are on different nodes, though they could share memory; for trials"},
    Setting{"HOCKET_DOMAIN", Kind::kInteger, "number", "-1", -1, 65535,
            "the NUMA domain of a rank; -1: the one that holds all processors it may run on"},
    Setting{"HOCKET_SETUP_CALLS", Kind::kInteger, "calls", "1", 1, 1000000,
            "from which collective call on a communicator the interposer may set it up"},
    Setting{"HOCKET_TAKEOVER_CALLS", Kind::kInteger, "calls", "0", 0, 1000000,
            "with which call that waits for nobody a communicator begins to take over from the MPI; 0: 32 under MPICH, "
            "256 under others"},
    Setting{"HOCKET_PROGRESS", Kind::kChoice, "auto|calls|thread", "auto", 0, 0,
            "who moves non-blocking calls while a rank computes; auto: a thread, where nobody else looks after them"},
    Setting{
        "HOCKET_OTHER_JOBS", Kind::kChoice, "mpi|hocket", "mpi", 0, 0,
        "communicators with ranks of spawned or connected jobs: the MPI's; or hocket's, where it is in all of them"},
    Setting{"HOCKET_DEVICE", Kind::kChoice, "auto|stage|pass-through|hand-on", "auto", 0, 0,
            "calls with a device's memory: by copies on the host, or left to the MPI where all ranks have its driver"},
#define HOCKET_COLLECTIVE(constant, name, setting, ...) forced("HOCKET_" #setting, "the algorithm of every " #name),
#define HOCKET_NEIGHBOR_COLLECTIVE(constant, name, setting, ...) \
  forced("HOCKET_" #setting, "the algorithm of every " #name),
#include "base/collectives.def"
    Setting{"HOCKET_TABLE", Kind::kText, "path", "", 0, 0, "a tuning table instead of the built-in one"},
    Setting{"HOCKET_CMA", Kind::kChoice, "auto|on|off", "auto", 0, 0,
            "copying straight out of another process; auto tries and measures it"},
    Setting{"HOCKET_NIC", Kind::kChoice, "auto|on|off", "auto", 0, 0,
            "short collectives between nodes by NIC engines (`hocket nic up`); on: an error where that can't be"},
    Setting{"HOCKET_NIC_INTERFACE", Kind::kText, "name", "", 0, 0,
            "whose engine, where several interfaces of a machine have one"},
    Setting{"HOCKET_NIC_MODE", Kind::kChoice, "collective|chain|direct|broadcast", "collective", 0, 0,
            "how engines make sure of messages. collective: missing ones are asked for; chain: the wire loses none; "
            "direct: each barrier message is acknowledged; broadcast: barriers vote by multicast first"},
    Setting{"HOCKET_NIC_COMBINE", Kind::kChoice, "order|arrival", "order", 0, 0,
            "how engines combine: in the tree's order, the same bits each time; arrival: in the order of packets"},
    Setting{"HOCKET_MULTICAST", Kind::kChoice, "auto|on|off", "auto", 0, 0,
            "multicast between nodes, where a rule or forced choice names it; on: joins all the same, or is an error"},
    Setting{"HOCKET_MULTICAST_OVER", Kind::kChoice, "udp|verbs", "udp", 0, 0,
            "what carries multicast: sockets, or unreliable datagrams of InfiniBand and RoCE"},
    Setting{"HOCKET_MULTICAST_GROUP", Kind::kText, "ipv4|ipv6|address[:port]", "ipv4", 0, 0,
            "the group: one that is drawn for each communicator, or this one for all"},
    Setting{"HOCKET_MULTICAST_INTERFACE", Kind::kText, "name", "", 0, 0,
            "where multicast leaves and comes in; else the only interface or, of IPv4, where the routes lead"},
    Setting{"HOCKET_MULTICAST_HOPS", Kind::kInteger, "hops", "1", 0, 255,
            "how many networks multicast may cross: 1 stays on the local one, 0 on this machine"},
    Setting{"HOCKET_MULTICAST_DELAY", Kind::kText, "none|random|adaptive|microseconds", "none", 0, 0,
            "how long a root waits for the others before it multicasts; random: for one of them, drawn for each call"},
    Setting{"HOCKET_LIBRARY", Kind::kText, "path", "", 0, 0,
            "the libhocket.so.0 that Python's `import hocket` loads, instead of the one that it finds"},
    Setting{"HOCKET_RUN", Kind::kText, "rank/size:socket:key", "", 0, 0,
            "set by `hocket run` for the ranks it starts: how they find each other"},
    Setting{"HOCKET_LAB_DIRECTORY", Kind::kText, "path", "/run/hocket/lab", 0, 0,
            "where `hocket lab` keeps its labs; labs in different places don't see each other"},
};

}  // namespace

std::span<const Setting> settings() { return kSettings; }

}  // namespace hocket::environment
