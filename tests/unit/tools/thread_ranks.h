// SPDX-License-Identifier: BSD-3-Clause
// Ranks of a bench::World as threads.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstring>
#include <thread>
#include <vector>

#include "bench/bench.h"

namespace hocket::bench {

// One that is done leaves the others to themselves, so that a test ends where ranks do not agree.
class ThreadRanks {
 public:
  explicit ThreadRanks(int size) : size_(size), barrier_(size) {}

  // Runs `body(world)` in a thread for each rank.
  template <typename Body>
  void run(const Body& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size_; ++rank)
      threads.emplace_back([this, rank, &body] {
        One world(*this, rank);
        body(world);
      });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  class One : public World {
   public:
    One(ThreadRanks& all, int rank) : all_(all), rank_(rank), placement_(static_cast<uint32_t>(all.size_)) {}
    ~One() override { all_.barrier_.arrive_and_drop(); }
    One(const One&) = delete;
    One& operator=(const One&) = delete;
    int rank() const override { return rank_; }
    int size() const override { return all_.size_; }
    const schedule::Nodes& placement() const override { return placement_; }
    void synchronize() override { all_.barrier_.arrive_and_wait(); }
    void maximum(std::span<double> values) override {
      std::vector<double> all(values.size() * all_.places_.size());
      allgather(values.data(), all.data(), values.size_bytes());
      for (size_t i = 0; i < all.size(); ++i) values[i % values.size()] = std::max(values[i % values.size()], all[i]);
    }
    void allgather(const void* send, void* receive, size_t bytes) override {
      all_.places_[static_cast<size_t>(rank_)].assign(static_cast<const std::byte*>(send),
                                                      static_cast<const std::byte*>(send) + bytes);
      all_.barrier_.arrive_and_wait();
      auto* to = static_cast<std::byte*>(receive);
      for (const std::vector<std::byte>& place : all_.places_) {
        // Of a rank that has left, or is in another call, as much as there is.
        std::memcpy(to, place.data(), std::min(bytes, place.size()));
        to += bytes;
      }
      all_.barrier_.arrive_and_wait();
    }

   private:
    ThreadRanks& all_;
    int rank_;
    schedule::Nodes placement_;
  };

  int size_;
  std::barrier<> barrier_;
  std::vector<std::vector<std::byte>> places_ = std::vector<std::vector<std::byte>>(static_cast<size_t>(size_));
};

}  // namespace hocket::bench
