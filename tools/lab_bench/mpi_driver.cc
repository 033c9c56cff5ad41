// SPDX-License-Identifier: BSD-3-Clause
#include "lab_bench/mpi_driver.h"

#include <utility>

#include "protocol/operation.h"

namespace hocket::lab_bench {
namespace {

constexpr int kSetUpCalls = 20;

bench::Options options_of(const Work& work) {
  bench::Options options;
  options.collectives = {work.collective};
  options.element = work.type == NIC_DOUBLE ? bench::Element::kDouble : bench::Element::kInt64;
  options.operation = work.operation == NIC_MIN   ? bench::Operation::kMin
                      : work.operation == NIC_MAX ? bench::Operation::kMax
                                                  : bench::Operation::kSum;
  return options;
}

class MpiDriver final : public Driver {
 public:
  MpiDriver(bench::MpiRanks& ranks, const Task& task, bool hocket)
      : work_(task.work),
        is_in_halves_(task.is_in_halves()),
        hocket_(hocket),
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

  Status begin(const nic_operand* operand) override {
    HOCKET_TRY(complete());  // of who gets nothing, the call before
    const bool is_broadcast = work_.collective == schedule::Collective::kBroadcast;
    if (operand != nullptr) (is_broadcast ? output_ : input_) = *operand;
    const size_t count = is_broadcast ? work_.words * sizeof(uint64_t) : work_.words;
    const bench::Call call = {work_.collective, &input_, &output_, count, 0};
    is_under_way_ = is_in_halves_;
    return status_of(is_in_halves_ ? variant_->begin(call) : variant_->run(call));
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
  Status complete() { return status_of(std::exchange(is_under_way_, false) ? variant_->complete() : 0); }
  Status status_of(int code) const { return code == 0 ? Status::ok() : Status(Code::kSystem, variant_->error(code)); }

  Work work_;
  bool is_in_halves_;
  bool is_under_way_ = false;
  bool hocket_;
  bool was_asked_ = false;
  std::unique_ptr<bench::Variant> variant_;
  nic_operand input_{};
  nic_operand output_{};
};

}  // namespace

std::unique_ptr<Driver> make_mpi_driver(bench::MpiRanks& ranks, const Task& task, bool hocket) {
  return std::make_unique<MpiDriver>(ranks, task, hocket);
}

}  // namespace hocket::lab_bench
