// SPDX-License-Identifier: BSD-3-Clause
#include "bench/lab/mpi_driver.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace hocket::lab_bench {
namespace {

constexpr int kSetUpCalls = 20;

// Of what a rank has for another: no two calls, and no two ranks or places near each other, have the same.
std::byte byte_of(uint64_t call, uint64_t from, uint64_t to, uint64_t at) {
  return static_cast<std::byte>(call * 31 + from * 17 + to * 101 + at * 7 + (at >> 8) * 13);
}

// The ranks for which one has a block of its own each, and those from which it gets a block: in a broadcast that of the
// root, which is for all.
uint32_t blocks_given(const Task& task) {
  return task.work.collective == schedule::Collective::kAlltoall ? task.ranks : 1;
}
uint32_t blocks_got(const Task& task) { return has_blocks(task.work.collective) ? task.ranks : 1; }

bench::Options options_of(const Work& work) {
  bench::Options options;
  options.collectives = {work.collective};
  options.element = work.type == reduction::Type::kDouble ? bench::Element::kDouble : bench::Element::kInt64;
  options.operation = work.operation;
  return options;
}

class MpiDriver final : public Driver {
 public:
  MpiDriver(bench::MpiRanks& ranks, const Task& task, bool hocket)
      : work_(task.work),
        is_in_halves_(task.is_in_halves()),
        hocket_(hocket),
        rank_(static_cast<uint64_t>(ranks.world().rank())),
        given_(has_blocks(task.work.collective) ? task.work.bytes * blocks_given(task) : 0),
        got_(task.work.bytes * blocks_got(task)),
        addressees_(blocks_given(task)),
        variant_(ranks.variant(options_of(task.work), hocket)) {}
  ~MpiDriver() override { (void)complete().is_ok(); }

  Result<Card> open() override {
    const std::string problem = variant_->activate(work_.collective);
    if (!problem.empty()) return Status(Code::kNotSupported, problem);
    return Card{};
  }
  // Blocking calls set a communicator of hocket's up, others don't.
  Status connect(const std::vector<Card>& /*cards*/) override {
    const bench::Call barrier;
    for (int i = 0; i < kSetUpCalls && hocket_; ++i) HOCKET_TRY(status_of(variant_->run(barrier)));
    const std::string problem = variant_->activate(work_.collective);
    return problem.empty() ? Status::ok() : Status(Code::kNotSupported, problem);
  }

  void prepare(uint64_t call) override {
    if (!has_blocks(work_.collective) && rank_ != 0) return;
    std::vector<std::byte>& message = has_blocks(work_.collective) ? given_ : got_;  // a broadcast has one buffer
    for (uint64_t at = 0; at < message.size(); ++at)
      message[at] = byte_of(call, rank_, at / work_.bytes, at % work_.bytes);
  }
  std::string difference(uint64_t call) override {
    const uint64_t place = addressees_ > 1 ? rank_ : 0;
    for (uint64_t at = 0; at < got_.size(); ++at)
      if (got_[at] != byte_of(call, at / work_.bytes, place, at % work_.bytes))
        return "call " + std::to_string(call) + " has brought another byte at " + std::to_string(at);
    return "";
  }

  Status begin(const nic_operand* operand) override {
    HOCKET_TRY(complete());  // of a rank that gets nothing, the call before
    if (work_.bytes != 0) return call({work_.collective, given_.data(), got_.data(), work_.bytes, 0});
    const bool is_broadcast = work_.collective == schedule::Collective::kBroadcast;
    if (operand != nullptr) (is_broadcast ? output_ : input_) = *operand;
    const size_t count = is_broadcast ? work_.words * sizeof(uint64_t) : work_.words;
    return call({work_.collective, &input_, &output_, count, 0});
  }

  Status finish(nic_operand& result) override {
    HOCKET_TRY(complete());
    result = output_;
    // Whether it was hocket is asked once: it is a matter of the collective and its length.
    if (was_asked_ || !hocket_) return Status::ok();
    was_asked_ = true;
    const std::string doubt = variant_->doubt();
    return doubt.empty() ? Status::ok() : Status(Code::kNotSupported, doubt);
  }

 private:
  Status call(const bench::Call& call) {
    is_under_way_ = is_in_halves_;
    return status_of(is_in_halves_ ? variant_->begin(call) : variant_->run(call));
  }
  Status complete() { return status_of(std::exchange(is_under_way_, false) ? variant_->complete() : 0); }
  Status status_of(int code) const { return code == 0 ? Status::ok() : Status(Code::kSystem, variant_->error(code)); }

  Work work_;
  bool is_in_halves_;
  bool is_under_way_ = false;
  bool hocket_;
  bool was_asked_ = false;
  uint64_t rank_;
  std::vector<std::byte> given_;
  std::vector<std::byte> got_;
  uint32_t addressees_;
  std::unique_ptr<bench::Variant> variant_;
  nic_operand input_{};
  nic_operand output_{};
};

}  // namespace

std::unique_ptr<Driver> make_mpi_driver(bench::MpiRanks& ranks, const Task& task, bool hocket) {
  return std::make_unique<MpiDriver>(ranks, task, hocket);
}

}  // namespace hocket::lab_bench
