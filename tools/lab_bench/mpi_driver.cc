// SPDX-License-Identifier: BSD-3-Clause
#include "lab_bench/mpi_driver.h"

#include "protocol/operation.h"

namespace hocket::lab_bench {
namespace {

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
  MpiDriver(bench::MpiRanks& ranks, const Work& work, bool hocket)
      : work_(work), hocket_(hocket), variant_(ranks.variant(options_of(work), hocket)) {}

  Result<Card> open() override {
    const std::string problem = variant_->activate(work_.collective);
    if (!problem.empty()) return Status(Code::kNotSupported, problem);
    return Card{};
  }
  Status connect(const std::vector<Card>& /*cards*/) override { return Status::ok(); }

  Status begin(const nic_operand* operand) override {
    const bool is_broadcast = work_.collective == schedule::Collective::kBroadcast;
    if (operand != nullptr) (is_broadcast ? output_ : input_) = *operand;
    const size_t count = is_broadcast ? work_.words * sizeof(uint64_t) : work_.words;
    const int code = variant_->run({work_.collective, &input_, &output_, count, 0});
    return code == 0 ? Status::ok() : Status(Code::kSystem, variant_->error(code));
  }

  Status finish(nic_operand& result) override {
    result = output_;
    // Whether it was hocket is asked once: it is a matter of the collective and its length.
    if (was_asked_ || !hocket_) return Status::ok();
    was_asked_ = true;
    const std::string doubt = variant_->doubt();
    return doubt.empty() ? Status::ok() : Status(Code::kNotSupported, doubt);
  }

 private:
  Work work_;
  bool hocket_;
  bool was_asked_ = false;
  std::unique_ptr<bench::Variant> variant_;
  nic_operand input_{};
  nic_operand output_{};
};

}  // namespace

std::unique_ptr<Driver> make_mpi_driver(bench::MpiRanks& ranks, const Work& work, bool hocket) {
  return std::make_unique<MpiDriver>(ranks, work, hocket);
}

}  // namespace hocket::lab_bench
