// SPDX-License-Identifier: BSD-3-Clause
// What it costs a host to ring a NIC engine's doorbell, by every way that Linux has for sending a packet. Times are the
// host's, a packet. The engine's `out_of_turn` counts those that it has seen.
#include <benchmark/benchmark.h>
#include <liburing.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "doorbell.h"

namespace hocket::nic_post {
namespace {

const Doorbell* doorbell = nullptr;

// What any system call costs at least.
void nothing(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(getppid());
}

void by_send(benchmark::State& state) {
  const auto packet = doorbell->packet();
  for (auto _ : state)
    benchmark::DoNotOptimize(send(doorbell->descriptor(), packet.data(), packet.size(), MSG_NOSIGNAL));
}

// Several by one call: for posts that a program makes one after the other and that may wait for each other.
void by_sendmmsg(benchmark::State& state) {
  const auto packet = doorbell->packet();
  const auto count = static_cast<unsigned>(state.range(0));
  iovec piece = {const_cast<std::byte*>(packet.data()), packet.size()};
  std::array<mmsghdr, 16> messages{};
  for (mmsghdr& message : messages) {
    message.msg_hdr.msg_iov = &piece;
    message.msg_hdr.msg_iovlen = 1;
  }
  int64_t packets = 0;
  while (state.KeepRunningBatch(count)) {
    // Refused where the engine keeps the packet (ENOBUFS): what was not sent is sent next.
    for (unsigned sent = 0; sent < count;) {
      const int more = sendmmsg(doorbell->descriptor(), &messages[sent], count - sent, MSG_NOSIGNAL);
      sent += more > 0 ? static_cast<unsigned>(more) : 1;
    }
    packets += count;
  }
  state.SetItemsProcessed(packets);
}

// Describes a packet in memory that the kernel reads, which is told so for `count` at a time; with a polling thread of
// the kernel's it needn't be told while that one is awake.
void by_ring(benchmark::State& state, unsigned flags) {
  const auto packet = doorbell->packet();
  const auto count = static_cast<unsigned>(state.range(0));
  io_uring ring{};
  io_uring_params parameters{};
  parameters.flags = flags;
  parameters.sq_thread_idle = 100;  // ms
  if (const int error = io_uring_queue_init_params(256, &ring, &parameters); error != 0) {
    state.SkipWithError("no io_uring here");
    return;
  }
  const auto reap = [&] {
    io_uring_cqe* done = nullptr;
    while (io_uring_peek_cqe(&ring, &done) == 0) io_uring_cqe_seen(&ring, done);
  };
  while (state.KeepRunningBatch(count)) {
    for (unsigned i = 0; i < count; ++i) {
      io_uring_sqe* entry = nullptr;
      while ((entry = io_uring_get_sqe(&ring)) == nullptr) io_uring_submit(&ring);
      io_uring_prep_send(entry, doorbell->descriptor(), packet.data(), packet.size(), MSG_NOSIGNAL);
    }
    io_uring_submit(&ring);
    reap();
  }
  io_uring_queue_exit(&ring);
}

void by_io_uring(benchmark::State& state) { by_ring(state, 0); }
void by_polled_io_uring(benchmark::State& state) { by_ring(state, IORING_SETUP_SQPOLL); }

BENCHMARK(nothing)->UseRealTime();
BENCHMARK(by_send)->UseRealTime();
BENCHMARK(by_sendmmsg)->Arg(1)->Arg(4)->Arg(16)->UseRealTime();
BENCHMARK(by_io_uring)->Arg(1)->Arg(4)->Arg(16)->UseRealTime();
BENCHMARK(by_polled_io_uring)->Arg(1)->Arg(16)->UseRealTime();

}  // namespace
}  // namespace hocket::nic_post

int main(int count, char** words) {
  using namespace hocket::nic_post;
  benchmark::Initialize(&count, words);
  if (count > 3 || (count > 1 && words[1][0] == '-')) {
    std::fprintf(stderr, "nic_post_benchmark [--benchmark_...] [INTERFACE [ADDRESS OF ANOTHER NODE]]\n");
    return 2;
  }
  auto opened = Doorbell::open(count > 1 ? words[1] : "eth0", count > 2 ? words[2] : "10.77.0.2");
  if (!opened.is_ok()) {
    std::fprintf(stderr, "nic_post_benchmark: %s\n", opened.status().message());
    return 1;
  }
  doorbell = opened.value().get();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
