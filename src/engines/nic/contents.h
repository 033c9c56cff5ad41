// SPDX-License-Identifier: BSD-3-Clause
// What the messages of a schedule carry, as runs of a program's list of operands (protocol/table.h): a rank's steps are
// followed with operands that are known by their places only.
//
// Thread safety: none; like the program that it writes to.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "protocol/table.h"
#include "schedule/plan.h"

namespace hocket::engines::nic {

Status unfit(const std::string& why);

class Contents {
 public:
  // Where the host's operand lies in the beginning. The collective's blocks are slices, if it has them.
  Contents(const schedule::Plan& plan, nic_program& program);

  // The content of a send, for its place in the program; none if it sends nothing.
  Status send(const schedule::Step& step, nic_send& send);
  // The place of what a receive brings, for its arrival; its operand comes into being.
  Status receive(const schedule::Step& step, nic_arrival& arrival);
  // A copy, or a combination of what is there.
  Status work(const schedule::Step& step);

  // What is in a place, as a content.
  Result<nic_content> operand_at(uint8_t place) { return run_of({place}); }
  // What the schedule leaves in the output.
  Result<nic_content> result();
  // The contents that the program has by now shall be combined as their operands come.
  Status pool();

 private:
  // Operands in the order in which they are combined, the first one's NIC_IS_LEFT meaning nothing.
  using Value = std::vector<uint8_t>;
  using Place = std::pair<schedule::Buffer, uint8_t>;

  bool is_exchange() const { return program_.slices != 0; }
  Result<Value> value_of(const schedule::Slice& slice) const;
  Status set(const schedule::Slice& slice, Value value);
  Result<nic_content> run_of(const Value& value);
  uint64_t places_of(const nic_content& content) const;
  Result<uint8_t> new_place();
  // Of an exchange: the number of the block.
  Result<uint8_t> block_of(const schedule::Slice& slice, schedule::Buffer buffer) const;

  nic_program& program_;
  std::map<Place, Value> values_;
};

}  // namespace hocket::engines::nic
