// SPDX-License-Identifier: BSD-3-Clause
#include "nic/kernel_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "bpf_support/options.h"
#include "bpf_support/words.h"

extern "C" const unsigned char nic_object_begin[];
extern "C" const unsigned char nic_object_end[];

namespace hocket::nic {
namespace {

using platform::Descriptor;

// Names that Debian 12's headers don't have yet.
constexpr uint32_t kTcxIngress = 46;
constexpr uint32_t kTcxEgress = 47;
constexpr uint32_t kXdp = 37;
// How many pages are kept ready: each is an open file.
constexpr size_t kPagesAtOnce = 64;

template <typename Value>
Result<Value*> map_values(int map, size_t count) {
  void* memory = mmap(nullptr, count * sizeof(Value), PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
  if (memory == MAP_FAILED) return Status::system("can't map the NIC engine's state", errno);
  return static_cast<Value*>(memory);
}

bpf_object* object_of(void* object) { return static_cast<bpf_object*>(object); }

// What comes over a veth is a socket's buffer already, and would have to become a driver's again.
bool may_come_in_early(const Interface& interface, Hook hook) {
  return hook == Hook::kXdp || (hook == Hook::kAutomatic && driver_of(interface) != "veth");
}

}  // namespace

Result<std::unique_ptr<KernelPrograms>> KernelPrograms::load(const Interface& interface, uint16_t port, Hook hook) {
  bpf::keep_words();
  std::unique_ptr<KernelPrograms> programs(new KernelPrograms);
  auto options = bpf::sized<bpf_object_open_opts>();
  options.object_name = "hocket_nic";
  const auto size = static_cast<size_t>(nic_object_end - nic_object_begin);
  bpf_object* object = bpf_object__open_mem(nic_object_begin, size, &options);
  if (object == nullptr) return bpf::failed("can't read the NIC engine's BPF programs", errno);
  programs->object_ = object;
  bpf_map* constants = bpf_object__find_map_by_name(object, ".rodata");
  // The one constant is the port.
  if (const int error = bpf_map__set_initial_value(constants, &port, sizeof port); error != 0)
    return bpf::failed("can't tell the NIC engine its port", error);
  // The kernel takes a tenth of a second and more to verify a program.
  (void)bpf_program__set_autoload(bpf_object__find_program_by_name(object, "nic_early"),
                                  may_come_in_early(interface, hook));
  if (const int error = bpf_object__load(object); error != 0)
    return bpf::failed("the kernel refuses the NIC engine's programs (root and kernel 5.12 or later are needed)",
                       error);
  HOCKET_TRY(programs->open_maps());
  HOCKET_TRY(programs->attach(interface, hook));
  if (hook == Hook::kAutomatic || hook == Hook::kXdp) HOCKET_TRY(programs->attach_early(interface, hook));
  return programs;
}

KernelPrograms::~KernelPrograms() {
  ring_buffer__free(static_cast<ring_buffer*>(ring_));
  if (sleeps_ != nullptr) munmap(sleeps_, sizeof *sleeps_);
  if (states_ != nullptr) munmap(states_, NIC_MOST_GROUPS * sizeof *states_);
  if (members_ != nullptr) munmap(members_, NIC_MEMBER_POOL * sizeof *members_);
  if (operands_ != nullptr) munmap(operands_, NIC_OPERAND_POOL * sizeof *operands_);
  bpf_object__close(object_of(object_));
}

int KernelPrograms::map(const char* name) const { return bpf_object__find_map_fd_by_name(object_of(object_), name); }

int KernelPrograms::program(const char* name) const {
  return bpf_program__fd(bpf_object__find_program_by_name(object_of(object_), name));
}

Result<int> KernelPrograms::try_frame(const char* name, std::vector<std::byte>& frame) const {
  std::vector<std::byte> made(frame.size() + NIC_FRAME_BYTES + sizeof(nic_operand));
  auto options = bpf::sized<bpf_test_run_opts>();
  options.data_in = frame.data();
  options.data_size_in = static_cast<uint32_t>(frame.size());
  options.data_out = made.data();
  options.data_size_out = static_cast<uint32_t>(made.size());
  if (const int error = bpf_prog_test_run_opts(program(name), &options); error != 0)
    return bpf::failed("can't try the NIC engine's programs", error);
  made.resize(options.data_size_out);
  frame = std::move(made);
  return static_cast<int>(options.retval);
}

Status KernelPrograms::open_maps() {
  pages_.resize(NIC_MOST_GROUPS);
  Result<nic_state*> states = map_values<nic_state>(map("nic_states"), NIC_MOST_GROUPS);
  if (!states.is_ok()) return states.take_status();
  states_ = states.value();
  Result<nic_member*> members = map_values<nic_member>(map("nic_members"), NIC_MEMBER_POOL);
  if (!members.is_ok()) return members.take_status();
  members_ = members.value();
  Result<nic_operand*> operands = map_values<nic_operand>(map("nic_operands"), NIC_OPERAND_POOL);
  if (!operands.is_ok()) return operands.take_status();
  operands_ = operands.value();
  Result<uint64_t*> sleeps = map_values<uint64_t>(map("nic_sleeps"), 1);
  if (!sleeps.is_ok()) return sleeps.take_status();
  sleeps_ = sleeps.value();
  const auto forget = [](void*, void*, size_t) { return 0; };
  ring_buffer* ring = ring_buffer__new(map("nic_news"), forget, nullptr, nullptr);
  if (ring == nullptr) return bpf::failed("can't listen to the NIC engine", errno);
  ring_ = ring;
  news_ = ring_buffer__epoll_fd(ring);
  return Status::ok();
}

Status KernelPrograms::attach(const Interface& interface, Hook hook) {
  Filters::remove_old(interface.index);
  bpf::keep_words();  // that there were none is no news
  if (hook != Hook::kClsact && attach_link(interface.index, "nic_arriving", kTcxIngress).is_ok())
    return attach_link(interface.index, "nic_leaving", kTcxEgress);
  place_ = "tc, by clsact";
  return filters_.attach(interface.index, program("nic_arriving"), program("nic_leaving"));
}

Status KernelPrograms::attach_early(const Interface& interface, Hook hook) {
  const std::string driver = driver_of(interface);
  if (!may_come_in_early(interface, hook)) {
    place_ += "; not in the driver, which is veth: tc is faster there";
    return Status::ok();
  }
  constexpr uint32_t kInDriver = 1U << 2;  // XDP_FLAGS_DRV_MODE
  Status status = attach_link(interface.index, "nic_early", kXdp, kInDriver);
  if (status.is_ok()) {
    place_ = "XDP in the driver where a packet is answered by one or none; else " + place_;
    if (driver == "veth") place_ += " (a veth sends so only if its other end has an XDP program, too)";
    return Status::ok();
  }
  const std::string named = driver.empty() ? "" : " (" + driver + ")";
  if (hook == Hook::kXdp) return {status.code(), "the driver" + named + " takes no XDP program: " + status.message()};
  place_ += "; not in the driver" + named + ", which takes no XDP program now";
  return Status::ok();
}

Status KernelPrograms::attach_link(int interface, const char* name, uint32_t kind, uint32_t flags) {
  bpf_attr attributes;
  std::memset(&attributes, 0, sizeof attributes);
  attributes.link_create.prog_fd = static_cast<uint32_t>(program(name));
  attributes.link_create.target_ifindex = static_cast<uint32_t>(interface);
  attributes.link_create.attach_type = kind;
  attributes.link_create.flags = flags;
  const auto link = static_cast<int>(syscall(SYS_bpf, BPF_LINK_CREATE, &attributes, sizeof attributes));
  if (link < 0) return bpf::failed("can't put the NIC engine's programs on the interface", errno);
  links_[kind == kTcxIngress ? 0 : kind == kTcxEgress ? 1 : 2] = Descriptor(link);
  return Status::ok();
}

Status KernelPrograms::set_slot(uint32_t number, const nic_slot& slot) {
  if (bpf_map_update_elem(map("nic_slots"), &number, &slot, BPF_ANY) == 0) return Status::ok();
  return Status::system("can't set a group of the NIC engine", errno);
}

Result<Descriptor> KernelPrograms::take_page(uint32_t number, const std::function<bool(uint32_t)>& is_free) {
  if (pages_[number].get() < 0) {
    std::vector<uint32_t> slots = {number};
    for (uint32_t slot = 0; slot < NIC_MOST_GROUPS && slots.size() < kPagesAtOnce; ++slot)
      if (slot != number && pages_[slot].get() < 0 && is_free(slot)) slots.push_back(slot);
    HOCKET_TRY(make_pages(slots));
  }
  return std::move(pages_[number]);
}

Status KernelPrograms::make_pages(const std::vector<uint32_t>& slots) {
  auto options = bpf::sized<bpf_map_create_opts>();
  options.map_flags = BPF_F_MMAPABLE;
  std::vector<Descriptor> made;
  std::vector<int> descriptors;
  for (size_t i = 0; i < slots.size(); ++i) {
    Descriptor page(bpf_map_create(BPF_MAP_TYPE_ARRAY, "nic_page", sizeof slots[i], sizeof(nic_page), 1, &options));
    if (page.get() < 0 && i > 0) break;  // no room for as many as that
    if (page.get() < 0) return Status::system("can't make a page of the NIC engine", errno);
    descriptors.push_back(page.get());
    made.push_back(std::move(page));
  }
  auto batch = bpf::sized<bpf_map_batch_opts>();
  auto count = static_cast<uint32_t>(made.size());
  // Kernels before 5.19 take one at a time.
  if (bpf_map_update_batch(map("nic_pages"), slots.data(), descriptors.data(), &count, &batch) != 0) {
    count = 1;
    if (bpf_map_update_elem(map("nic_pages"), slots.data(), descriptors.data(), BPF_ANY) != 0)
      return Status::system("can't set a page of the NIC engine", errno);
  }
  for (uint32_t i = 0; i < count; ++i) pages_[slots[i]] = std::move(made[i]);
  return Status::ok();
}

Status KernelPrograms::set_id(uint64_t id, uint32_t slot) {
  if (bpf_map_update_elem(map("nic_ids"), &id, &slot, BPF_NOEXIST) == 0) return Status::ok();
  if (errno == EEXIST) return {Code::kInvalidArgument, "the NIC engine has a group of that id already"};
  return Status::system("can't tell the NIC engine a group's id", errno);
}

void KernelPrograms::forget_id(uint64_t id) { (void)bpf_map_delete_elem(map("nic_ids"), &id); }

Status KernelPrograms::set_doorbell(const nic_doorbell& doorbell) {
  const uint32_t nothing = 0;
  if (bpf_map_update_elem(map("nic_doorbells"), &doorbell, &nothing, BPF_NOEXIST) == 0) return Status::ok();
  return Status::system("can't tell the NIC engine a doorbell", errno);
}

void KernelPrograms::forget_doorbell(const nic_doorbell& doorbell) {
  (void)bpf_map_delete_elem(map("nic_doorbells"), &doorbell);
}

// Sequentially consistent: this comes before the caller looks once more at what has started, as a doorbell's program
// starts an operation before it looks at the word (wake_keeper() in bpf/nic.bpf.c).
void KernelPrograms::ask_for_news() { __atomic_store_n(sleeps_, 1, __ATOMIC_SEQ_CST); }

void KernelPrograms::take_news() { (void)ring_buffer__consume(static_cast<ring_buffer*>(ring_)); }

Counters KernelPrograms::counters() const {
  Counters counters = {};
  const int processors = libbpf_num_possible_cpus();
  if (processors <= 0) return counters;
  std::vector<uint64_t> each(static_cast<size_t>(processors));
  for (uint32_t counter = 0; counter < NIC_COUNTERS; ++counter) {
    if (bpf_map_lookup_elem(map("nic_counters"), &counter, each.data()) != 0) continue;
    for (const uint64_t value : each) counters[counter] += value;
  }
  return counters;
}

}  // namespace hocket::nic
