// SPDX-License-Identifier: BSD-3-Clause
// The BPF programs on the ports of a lab's switch (bpf/lab_port.bpf.c), and the memory they share with this process.
//
// A lab with a bridge has none until something is to happen to its packets; the redirect switch is one of them. They
// hold on to the ports, their maps are found in the lab's bpf/, so no process has to stay.
//
// Thread safety: one thread at a time; changes need the Lock.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.h"
#include "bpf/lab_port.h"
#include "lab/lab.h"

namespace hocket::lab {

// What of them is found in the lab's bpf/, beside settings and counters: what tells of packets (events.h).
inline constexpr const char* kEventsPin = "events";
inline constexpr const char* kRecordingPin = "recording";
inline constexpr const char* kDoorbellPin = "doorbell";
std::string pin_of(const Lab& lab, const char* name);

bool has_programs(const Lab& lab);
// Loads them and puts them on the ports of the lab, all or none.
Status load_programs(const Lab& lab);
Status unload_programs(const Lab& lab);
// Puts the program that takes back what the relay held on its interface, in the calling thread's network.
Status attach_relay_program(const Lab& lab);

// Settings and counters of all links, mapped: what is written is in force at once.
class LinkTable {
 public:
  static Result<LinkTable> open(const Lab& lab);
  ~LinkTable();
  LinkTable(LinkTable&& other) noexcept;
  LinkTable& operator=(LinkTable&&) = delete;

  lab_settings& settings(int node, unsigned direction) const {
    return settings_[lab_link(static_cast<uint32_t>(node), direction)];
  }
  lab_counters& counters(int node, unsigned direction) const {
    return counters_[lab_link(static_cast<uint32_t>(node), direction)];
  }
  lab_settings& settings_of_link(uint32_t link) const { return settings_[link]; }
  lab_counters& counters_of_link(uint32_t link) const { return counters_[link]; }

 private:
  LinkTable() = default;
  lab_settings* settings_ = nullptr;
  lab_counters* counters_ = nullptr;
};

}  // namespace hocket::lab
