// SPDX-License-Identifier: BSD-3-Clause
#include "doorbell.h"

#include <arpa/inet.h>

#include <cstring>
#include <random>

#include "algorithms/algorithm.h"
#include "engines/nic/stage_table.h"
#include "protocol/machine.h"
#include "protocol/page.h"

namespace hocket::nic_post {
namespace {

constexpr uint64_t kNotTheNext = 5;  // the first operation is 1

Result<nic_program> barrier_of_two() {
  return engines::nic::stage_table(0, {}, [](uint32_t rank) {
    const auto* barrier = algorithms::find(schedule::Collective::kBarrier, "dissemination");
    return algorithms::make_plan(*barrier, {.size = 2, .rank = rank});
  });
}

}  // namespace

Result<std::unique_ptr<Doorbell>> Doorbell::open(const std::string& interface, const std::string& peer) {
  in_addr address{};
  if (inet_pton(AF_INET, peer.c_str(), &address) != 1)
    return Status(Code::kInvalidArgument, "`" + peer + "` is no IPv4 address, as another node has one");
  Result<engines::nic::ServiceClient> service = engines::nic::ServiceClient::connect(interface);
  if (!service.is_ok()) return service.take_status();
  std::unique_ptr<Doorbell> doorbell(new Doorbell(service.take()));
  HOCKET_TRY(doorbell->join(address.s_addr));
  return doorbell;
}

Status Doorbell::join(uint32_t peer) {
  Result<nic_hello> hello = service_.greet();
  if (!hello.is_ok()) return hello.take_status();
  Result<nic_program> program = barrier_of_two();
  if (!program.is_ok()) return program.take_status();
  std::random_device dice;
  engines::nic::GroupDescription group;
  group.id = uint64_t{dice()} << 32 | dice();
  group.members = {{hello.value().ip, hello.value().port}, {peer, hello.value().port}};
  group.programs = {program.value()};
  Result<engines::nic::ServiceClient::Joined> answered = service_.join(group, /*has_doorbell=*/false);
  if (!answered.is_ok()) return answered.take_status();
  engines::nic::ServiceClient::Joined joined = answered.take();
  HOCKET_TRY(joined.check_packet());
  if (joined.doorbell.get() < 0)
    return {Code::kSystem, "this process has no room for the three files that are a NIC group: `ulimit -n`"};
  doorbell_ = std::move(joined.doorbell);
  std::memcpy(packet_.data(), joined.answer.doorbell, joined.answer.doorbell_bytes);
  nic_message m{};
  m.group = joined.answer.group;
  m.epoch = kNotTheNext;
  m.kind = NIC_DOORBELL;
  __u64 words[NIC_WORDS + 1];
  nic_write(&m, 0, words);
  std::memcpy(packet_.data() + joined.answer.words_at, words, sizeof words);
  length_ = joined.answer.words_at + sizeof words;
  return Status::ok();
}

}  // namespace hocket::nic_post
