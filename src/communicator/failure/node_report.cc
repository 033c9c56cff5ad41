// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/failure/node_report.h"

#include <ctime>

#include "base/clock.h"
#include "base/log.h"

namespace hocket::communicator {

using engines::wire::Ticket;

namespace {

// A word follows its notice at once, unless its sender has ended in between.
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

Status ReportChannel::send(uint32_t to, const NodeReport& word) {
  sweep();
  HOCKET_TRY(wire_.send_notice(to, tag_));
  auto sent = std::make_unique<Sent>(Sent{word});
  HOCKET_TRY(wire_.post_send(to, tag_, &sent->word, sizeof sent->word, sent->ticket));
  if (sent->ticket != 0) sent_.push_back(std::move(sent));
  return Status::ok();
}

void ReportChannel::drop_all() {
  uint32_t from = 0;
  for (Result<NodeReport> word = take(from); word.is_ok() && word.value().kind != NodeReport::kNone;) word = take(from);
}

Result<NodeReport> ReportChannel::take(uint32_t& from) {
  from = ~0u;
  Result<bool> has_come = wire_.take_notice(tag_, from);
  if (!has_come.is_ok()) return has_come.take_status();
  if (!has_come.value()) return NodeReport{};
  auto word = std::make_unique<NodeReport>();
  Ticket ticket = 0;
  size_t bytes = sizeof *word;
  HOCKET_TRY(wire_.post_receive(from, tag_, word.get(), sizeof *word, ticket));
  const uint64_t limit_ns = now_ns() + kReportTimeoutNs;
  while (ticket != 0 && now_ns() < limit_ns) {
    HOCKET_TRY(wire_.test(1, &ticket, &bytes));
    if (ticket != 0) nanosleep(&kPause, nullptr);
  }
  if (ticket == 0 && bytes == sizeof *word) return *word;
  if (ticket != 0) {
    wire_.cancel(ticket);
    [[maybe_unused]] const NodeReport* left = word.release();  // it may still come
  }
  NodeReport failure;
  failure.kind = NodeReport::kFailure;
  return failure;
}

}  // namespace hocket::communicator
