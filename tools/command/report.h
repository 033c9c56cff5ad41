// SPDX-License-Identifier: BSD-3-Clause
// What `hocket info` has found out: the same facts as text for people and as JSON for programs.
//
// Thread safety: for processes with one thread; a section is a value.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace hocket::command {

struct Fact {
  std::string key;   // short, lower case; in JSON blanks become '_'
  std::string text;  // for people
  nlohmann::ordered_json value;
};

struct Section {
  std::string title;
  std::vector<Fact> facts;

  void add(std::string key, std::string text, nlohmann::ordered_json value) {
    facts.push_back({std::move(key), std::move(text), std::move(value)});
  }
  void add(std::string key, const std::string& text) { add(std::move(key), text, text); }
};

Section machine_section();
Section possible_section();
Section mpi_section();
Section settings_section();

std::string bytes_to_text(uint64_t bytes);  // "62.7 MiB"

}  // namespace hocket::command
