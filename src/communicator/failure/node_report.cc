// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/failure/node_report.h"

#include <ctime>

#include "base/clock.h"
#include "base/log.h"

namespace hocket::communicator {

using engines::wire::Ticket;

namespace {

// A report follows its notice at once, unless its sender has ended in between.
constexpr uint64_t kReportTimeoutNs = 1'000'000'000;
constexpr timespec kPause{0, 50'000};

}  // namespace

ReportChannel::~ReportChannel() {
  sweep();
  for (std::unique_ptr<Sent>& one : sent_) {
    wire_.cancel(one->ticket);
    [[maybe_unused]] const Sent* left = one.release();  // what can't be cancelled is still read
  }
}

void ReportChannel::sweep() {
  std::erase_if(sent_, [this](const std::unique_ptr<Sent>& one) {
    size_t bytes = 0;
    return !wire_.test(1, &one->ticket, &bytes).is_ok() || one->ticket == 0;
  });
}

Status ReportChannel::send(uint32_t to, const NodeReport& report) {
  sweep();
  HOCKET_TRY(wire_.send_notice(to, tag_));
  auto sent = std::make_unique<Sent>(Sent{report});
  HOCKET_TRY(wire_.post_send(to, tag_, &sent->report, sizeof sent->report, sent->ticket));
  if (sent->ticket != 0) sent_.push_back(std::move(sent));
  return Status::ok();
}

void ReportChannel::drop_all() {
  uint32_t from = 0;
  for (Result<NodeReport> report = take(from); report.is_ok() && report.value().kind != NodeReport::kNone;)
    report = take(from);
}

Result<NodeReport> ReportChannel::take(uint32_t& from) {
  from = ~0u;
  Result<bool> has_come = wire_.take_notice(tag_, from);
  if (!has_come.is_ok()) return has_come.take_status();
  if (!has_come.value()) return NodeReport{};
  auto report = std::make_unique<NodeReport>();
  Ticket ticket = 0;
  size_t bytes = sizeof *report;
  HOCKET_TRY(wire_.post_receive(from, tag_, report.get(), sizeof *report, ticket));
  const uint64_t limit_ns = now_ns() + kReportTimeoutNs;
  while (ticket != 0 && now_ns() < limit_ns) {
    HOCKET_TRY(wire_.test(1, &ticket, &bytes));
    if (ticket != 0) nanosleep(&kPause, nullptr);
  }
  if (ticket == 0 && bytes == sizeof *report) return *report;
  if (ticket != 0) {
    wire_.cancel(ticket);
    [[maybe_unused]] const NodeReport* left = report.release();  // it may still come
  }
  NodeReport failure;
  failure.kind = NodeReport::kFailure;
  return failure;
}

}  // namespace hocket::communicator
