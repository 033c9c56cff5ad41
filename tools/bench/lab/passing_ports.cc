// SPDX-License-Identifier: BSD-3-Clause
#include "bench/lab/passing_ports.h"

#include <linux/bpf.h>
#include <net/if.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "lab/namespaces.h"

namespace hocket::lab_bench {
namespace {

using platform::Descriptor;

constexpr uint32_t kInDriver = 1U << 2;  // XDP_FLAGS_DRV_MODE

Descriptor ask_kernel(bpf_cmd command, bpf_attr& attributes) {
  return Descriptor(static_cast<int>(syscall(SYS_bpf, command, &attributes, sizeof attributes)));
}

Descriptor load_program() {
  const std::array<bpf_insn, 2> program = {
      {{BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, XDP_PASS}, {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}}};
  bpf_attr attributes;
  std::memset(&attributes, 0, sizeof attributes);
  attributes.prog_type = BPF_PROG_TYPE_XDP;
  attributes.expected_attach_type = BPF_XDP;
  attributes.insns = reinterpret_cast<uintptr_t>(program.data());
  attributes.insn_cnt = program.size();
  attributes.license = reinterpret_cast<uintptr_t>("Dual BSD/GPL");
  std::strncpy(attributes.prog_name, "lab_pass", sizeof attributes.prog_name - 1);
  return ask_kernel(BPF_PROG_LOAD, attributes);
}

}  // namespace

Result<std::vector<Descriptor>> let_ports_pass(const lab::Lab& lab) {
  Result<lab::NetworkVisit> visit = lab::NetworkVisit::enter(lab.switch_network());
  if (!visit.is_ok()) return visit.take_status();
  const Descriptor program = load_program();
  if (program.get() < 0) return Status::system("can't load a program for the switch's ports", errno);
  std::vector<Descriptor> links;
  for (int node = 0; node < lab.nodes; ++node) {
    bpf_attr attributes;
    std::memset(&attributes, 0, sizeof attributes);
    attributes.link_create.prog_fd = static_cast<uint32_t>(program.get());
    attributes.link_create.target_ifindex = if_nametoindex(lab::node_name(node).c_str());
    attributes.link_create.attach_type = BPF_XDP;
    attributes.link_create.flags = kInDriver;
    Descriptor link = ask_kernel(BPF_LINK_CREATE, attributes);
    if (link.get() < 0) return Status::system("can't put a program on the port of " + lab::node_name(node), errno);
    links.push_back(std::move(link));
  }
  return links;
}

}  // namespace hocket::lab_bench
