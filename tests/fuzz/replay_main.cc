// SPDX-License-Identifier: BSD-3-Clause
// Runs a fuzz target without a fuzzer: over every file of a folder (if there is one) and over random variations of
// them. Prints its random seed; the same as second argument repeats the run.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr int kVariations = 20000;
constexpr size_t kLongest = 4096;

void feed(const std::string& input) {
  // A copy of exactly its size, so that a sanitizer sees a read beyond its end.
  const std::vector<uint8_t> exact(input.begin(), input.end());
  (void)LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

// Flips, cuts, doubles or inserts in one place.
std::string vary(std::string input, std::mt19937_64& random) {
  const size_t at = input.empty() ? 0 : random() % input.size();
  switch (random() % 4) {
    case 0:
      if (!input.empty()) input[at] = static_cast<char>(random());
      break;
    case 1:
      input.resize(at);
      break;
    case 2:
      if (input.size() < kLongest / 2) input += input.substr(at);
      break;
    default:
      if (input.size() < kLongest) input.insert(at, 1, static_cast<char>(random()));
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> inputs = {""};
  if (argc > 1 && std::filesystem::is_directory(argv[1])) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
      std::ifstream file(entry.path(), std::ios::binary);
      inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  }
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::random_device{}();
  std::printf("%zu seeds, %d variations, random seed %llu\n", inputs.size(), kVariations,
              static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  for (const std::string& input : inputs) feed(input);
  for (int i = 0; i < kVariations; ++i) {
    std::string input = inputs[random() % inputs.size()];
    for (uint64_t changes = random() % 8 + 1; changes > 0; --changes) input = vary(std::move(input), random);
    feed(input);
  }
  return 0;
}
