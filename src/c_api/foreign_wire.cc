// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/foreign_wire.h"

#include <cstring>
#include <string>

#include "selection/table.h"

namespace hocket::c_api {
namespace {

Status status_of(int answer, const char* doing) {
  if (answer >= 0) [[likely]]
    return Status::ok();
  const std::string what = std::string("the wire between nodes failed in ") + doing;
  switch (answer) {
    case HOCKET_ERR_MISMATCH:
      return {Code::kMismatch,
              "a message from another node is longer than what is expected; the counts of the two ranks don't match"};
    case HOCKET_ERR_PEER_FAILED:
      return {Code::kPeerFailed, what + ": a peer has ended"};
    case HOCKET_ERR_NO_MEMORY:
      return {Code::kNoMemory, what + ": no memory"};
    default:
      return {Code::kSystem, what + " (" + std::to_string(answer) + ")"};
  }
}

class ForeignWire final : public engines::wire::Wire {
 public:
  explicit ForeignWire(const hocket_wire_t& wire) : wire_(wire) {}

  std::string_view name() const override { return wire_.name; }
  uint32_t rank() const override { return wire_.rank; }
  uint32_t size() const override { return wire_.size; }
  uint32_t tags() const override { return wire_.tags; }

  Status post_send(uint32_t to, uint32_t tag, const void* data, size_t bytes, engines::wire::Ticket& ticket) override {
    return status_of(wire_.send(to, tag, data, bytes, &ticket, wire_.user), "a send");
  }
  Status post_receive(uint32_t from, uint32_t tag, void* data, size_t bytes, engines::wire::Ticket& ticket) override {
    return status_of(wire_.receive(from, tag, data, bytes, &ticket, wire_.user), "a receive");
  }
  Status test(size_t count, engines::wire::Ticket* tickets, size_t* bytes) override {
    return status_of(wire_.test(count, tickets, bytes, wire_.user), "a test");
  }
  void cancel(engines::wire::Ticket ticket) override { wire_.cancel(ticket, wire_.user); }
  Status send_notice(uint32_t to, uint32_t tag) override {
    return status_of(wire_.notify(to, tag, wire_.user), "a notice");
  }
  Result<bool> take_notice(uint32_t tag, uint32_t& from) override {
    const int answer = wire_.take_notice(tag, &from, wire_.user);
    if (Status status = status_of(answer, "a look for notices"); !status.is_ok()) return status;
    return answer > 0;
  }
  Result<bool> has_unexpected(uint32_t from, uint32_t tag) override {
    const int answer = wire_.probe(from, tag, wire_.user);
    if (Status status = status_of(answer, "a look for messages"); !status.is_ok()) return status;
    return answer > 0;
  }

 private:
  const hocket_wire_t wire_;
};

std::string what_is_wrong(const hocket_wire_t& wire) {
  if (wire.struct_size != sizeof(hocket_wire_t))
    return "`wire->struct_size` is " + std::to_string(wire.struct_size) + ", not sizeof(hocket_wire_t), " +
           std::to_string(sizeof(hocket_wire_t));
  const std::string_view name(wire.name, strnlen(wire.name, sizeof wire.name));
  if (name.size() == sizeof wire.name || (!name.empty() && !selection::is_wire_name(name)))
    return "`wire->name` is `" + std::string(name) + "`: lower-case letters, digits, - and _, ended by 0";
  const std::pair<const char*, bool> functions[] = {
      {"send", wire.send == nullptr},     {"receive", wire.receive == nullptr},
      {"test", wire.test == nullptr},     {"cancel", wire.cancel == nullptr},
      {"notify", wire.notify == nullptr}, {"take_notice", wire.take_notice == nullptr},
      {"probe", wire.probe == nullptr}};
  for (const auto& [name, is_missing] : functions)
    if (is_missing) return std::string("`wire->") + name + "` is NULL; all functions are needed";
  if (wire.rank >= wire.size)
    return "`wire->rank` is " + std::to_string(wire.rank) + ", which is not one of 0 to `wire->size`-1 (`size` is " +
           std::to_string(wire.size) + ")";
  return {};
}

}  // namespace

Result<std::shared_ptr<engines::wire::Wire>> foreign_wire(const hocket_wire_t& wire) {
  if (const std::string wrong = what_is_wrong(wire); !wrong.empty())
    return Status(Code::kInvalidArgument,
                  "hocket_context_create: " + wrong + "; hocket/mpi_wire.h shows how a wire is filled in");
  return std::shared_ptr<engines::wire::Wire>(std::make_shared<ForeignWire>(wire));
}

}  // namespace hocket::c_api
