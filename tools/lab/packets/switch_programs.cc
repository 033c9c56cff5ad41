// SPDX-License-Identifier: BSD-3-Clause
#include "lab/packets/switch_programs.h"

#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "bpf_support/words.h"
#include "lab/namespaces.h"
#include "platform/descriptor.h"

#ifdef HOCKET_LAB_PROGRAMS
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

extern "C" const unsigned char lab_port_object_begin[];
extern "C" const unsigned char lab_port_object_end[];
#endif

namespace hocket::lab {

static_assert(kFirstPort == LAB_FIRST_PORT && kRelayIndex == LAB_RELAY_INDEX);

std::string pin_of(const Lab& lab, const char* name) { return lab.programs_directory() + "/" + name; }

#ifdef HOCKET_LAB_PROGRAMS
namespace {

using platform::Descriptor;

constexpr const char* kSettings = "settings";
constexpr const char* kCounters = "counters";
constexpr const char* kFromRelay = "from_relay";

struct CloseObject {
  void operator()(bpf_object* object) const { bpf_object__close(object); }
};
using Object = std::unique_ptr<bpf_object, CloseObject>;

Result<Object> load_object(const Lab& lab) {
  bpf::keep_words();
  bpf_object_open_opts options;
  std::memset(&options, 0, sizeof options);
  options.sz = sizeof options;
  options.object_name = "lab_port";
  const auto size = static_cast<size_t>(lab_port_object_end - lab_port_object_begin);
  Object object(bpf_object__open_mem(lab_port_object_begin, size, &options));
  if (object == nullptr) return bpf::failed("can't read the lab's BPF programs", errno);
  bpf_map* constants = bpf_object__find_map_by_name(object.get(), ".rodata");
  const auto nodes = static_cast<uint32_t>(lab.nodes);
  // The one constant is the number of nodes.
  if (const int error = bpf_map__set_initial_value(constants, &nodes, sizeof nodes); error != 0)
    return bpf::failed("can't tell the lab's BPF programs the number of nodes", error);
  if (const int error = bpf_object__load(object.get()); error != 0)
    return bpf::failed("the kernel refuses the lab's BPF programs (5.12 or later is needed)", error);
  return object;
}

// `point`: BPF_TC_INGRESS, or that and BPF_TC_EGRESS.
bpf_tc_hook hook_of(int index, int points) {
  bpf_tc_hook hook;
  std::memset(&hook, 0, sizeof hook);
  hook.sz = sizeof hook;
  hook.ifindex = index;
  hook.attach_point = static_cast<bpf_tc_attach_point>(points);
  return hook;
}

Status attach(int index, bpf_tc_attach_point point, int program) {
  bpf_tc_hook hook = hook_of(index, point);
  const int created = bpf_tc_hook_create(&hook);
  if (created != 0 && created != -EEXIST)
    return bpf::failed("can't prepare port " + std::to_string(index) + " for a program (CONFIG_NET_SCH_INGRESS?)",
                       created);
  bpf_tc_opts options;
  std::memset(&options, 0, sizeof options);
  options.sz = sizeof options;
  options.prog_fd = program;
  const int attached = bpf_tc_attach(&hook, &options);
  return attached == 0 ? Status::ok() : bpf::failed("can't put a program on port " + std::to_string(index), attached);
}

int program_of(const Object& object, const char* name) {
  return bpf_program__fd(bpf_object__find_program_by_name(object.get(), name));
}

Status fill_addresses(const Lab& lab, const Object& object) {
  const int addresses = bpf_object__find_map_fd_by_name(object.get(), "lab_addresses");
  for (int node = 0; node < lab.nodes; ++node) {
    uint64_t key = 0;
    for (const uint8_t byte : lab.mac_address(node)) key = key << 8 | byte;
    const auto port = static_cast<uint32_t>(node);
    if (const int error = bpf_map_update_elem(addresses, &key, &port, BPF_ANY); error != 0)
      return bpf::failed("can't tell the switch its addresses", error);
  }
  return Status::ok();
}

Status attach_to_ports(const Lab& lab, const Object& object) {
  const bool is_switch = lab.switch_kind == SwitchKind::kRedirect;
  if (is_switch) HOCKET_TRY(fill_addresses(lab, object));
  const int from_node = program_of(object, is_switch ? "lab_switch" : "lab_from_node");
  const int to_node = program_of(object, "lab_to_node");
  Result<NetworkVisit> visit = NetworkVisit::enter(lab.switch_network());
  if (!visit.is_ok()) return visit.take_status();
  for (int node = 0; node < lab.nodes; ++node) {
    HOCKET_TRY(attach(kFirstPort + node, BPF_TC_INGRESS, from_node));
    HOCKET_TRY(attach(kFirstPort + node, BPF_TC_EGRESS, to_node));
  }
  return Status::ok();
}

// The settings last: they tell that all is there.
Status pin_all(const Lab& lab, const Object& object) {
  const auto pinned = [&](int descriptor, const char* name) {
    const int error = bpf_obj_pin(descriptor, pin_of(lab, name).c_str());
    return error == 0 ? Status::ok() : bpf::failed("can't pin " + pin_of(lab, name), error);
  };
  HOCKET_TRY(pinned(program_of(object, "lab_from_relay"), kFromRelay));
  HOCKET_TRY(pinned(bpf_object__find_map_fd_by_name(object.get(), "lab_counters"), kCounters));
  HOCKET_TRY(pinned(program_of(object, "lab_doorbell"), kDoorbellPin));
  HOCKET_TRY(pinned(bpf_object__find_map_fd_by_name(object.get(), "lab_events"), kEventsPin));
  // Of the one variable that isn't constant.
  const bpf_map* recording = bpf_object__find_map_by_name(object.get(), ".bss");
  HOCKET_TRY(pinned(bpf_map__fd(recording), kRecordingPin));
  const int settings = bpf_object__find_map_fd_by_name(object.get(), "lab_settings");
  for (uint32_t link = 0; link < LAB_LINKS; ++link) {
    lab_settings first{};
    first.seed = 1;
    if (const int error = bpf_map_update_elem(settings, &link, &first, BPF_ANY); error != 0)
      return bpf::failed("can't set the links' settings", error);
  }
  return pinned(settings, kSettings);
}

Status load_and_attach(const Lab& lab) {
  if (mount("hocket-lab", lab.programs_directory().c_str(), "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=700") != 0)
    return Status::system("can't mount a BPF file system on " + lab.programs_directory(), errno);
  Result<Object> object = load_object(lab);
  if (!object.is_ok()) return object.take_status();
  HOCKET_TRY(attach_to_ports(lab, object.value()));
  return pin_all(lab, object.value());
}

template <typename Value>
Result<Value*> map_values(const std::string& file) {
  const Descriptor map(bpf_obj_get(file.c_str()));
  if (map.get() < 0) return Status::system("can't open " + file, errno);
  bpf_map_info about{};
  uint32_t length = sizeof about;
  if (bpf_obj_get_info_by_fd(map.get(), &about, &length) == 0 && about.value_size != sizeof(Value))
    return Status(Code::kNotSupported, "the lab was made by another build of hocket, which keeps " +
                                           std::to_string(about.value_size) +
                                           " bytes for a link where this one keeps " + std::to_string(sizeof(Value)) +
                                           ": make it anew, by `hocket lab down` and `up`");
  void* memory = mmap(nullptr, LAB_LINKS * sizeof(Value), PROT_READ | PROT_WRITE, MAP_SHARED, map.get(), 0);
  if (memory == MAP_FAILED) return Status::system("can't map " + file, errno);
  return static_cast<Value*>(memory);
}

}  // namespace

bool has_programs(const Lab& lab) { return access(pin_of(lab, kSettings).c_str(), F_OK) == 0; }

Status load_programs(const Lab& lab) {
  if (has_programs(lab)) return Status::ok();
  HOCKET_TRY(unload_programs(lab));  // what a killed command has left
  Status status = load_and_attach(lab);
  if (!status.is_ok()) (void)unload_programs(lab).is_ok();
  return status;
}

Status unload_programs(const Lab& lab) {
  {
    Result<NetworkVisit> visit = NetworkVisit::enter(lab.switch_network());
    if (!visit.is_ok()) return visit.take_status();
    bpf::keep_words();
    for (int node = 0; node < lab.nodes; ++node) {
      bpf_tc_hook hook = hook_of(kFirstPort + node, BPF_TC_INGRESS | BPF_TC_EGRESS);
      (void)bpf_tc_hook_destroy(&hook);  // an error: there is none
    }
  }
  while (umount2(lab.programs_directory().c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) continue;
  return errno == EINVAL ? Status::ok() : Status::system("can't unmount " + lab.programs_directory(), errno);
}

Status attach_relay_program(const Lab& lab) {
  bpf::keep_words();
  const Descriptor program(bpf_obj_get(pin_of(lab, kFromRelay).c_str()));
  if (program.get() < 0) return Status::system("can't open " + pin_of(lab, kFromRelay), errno);
  return attach(kRelayIndex, BPF_TC_INGRESS, program.get());
}

Result<LinkTable> LinkTable::open(const Lab& lab) {
  LinkTable table;
  Result<lab_settings*> settings = map_values<lab_settings>(pin_of(lab, kSettings));
  if (!settings.is_ok()) return settings.take_status();
  table.settings_ = settings.value();
  Result<lab_counters*> counters = map_values<lab_counters>(pin_of(lab, kCounters));
  if (!counters.is_ok()) return counters.take_status();
  table.counters_ = counters.value();
  return table;
}

#else

namespace {
Status missing() {
  return {
      Code::kNotSupported,
      "this hocket was built without BPF programs, which the redirect switch, loss, delay and the like need: install "
      "clang-19 and libbpf-dev, then configure and build anew"};
}
}  // namespace

bool has_programs(const Lab&) { return false; }
Status load_programs(const Lab&) { return missing(); }
Status unload_programs(const Lab&) { return Status::ok(); }
Status attach_relay_program(const Lab&) { return missing(); }
Result<LinkTable> LinkTable::open(const Lab&) { return missing(); }

#endif

LinkTable::LinkTable(LinkTable&& other) noexcept
    : settings_(std::exchange(other.settings_, nullptr)), counters_(std::exchange(other.counters_, nullptr)) {}

LinkTable::~LinkTable() {
  if (settings_ != nullptr) munmap(settings_, LAB_LINKS * sizeof(lab_settings));
  if (counters_ != nullptr) munmap(counters_, LAB_LINKS * sizeof(lab_counters));
}

}  // namespace hocket::lab
