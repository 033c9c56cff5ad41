// SPDX-License-Identifier: BSD-3-Clause
#include "command/simulated_best.h"

#include <algorithm>
#include <utility>

#include "base/size_text.h"

namespace hocket::command {
namespace {

// Of all.
double time_of(const BestBySize::Size& size, const std::string& algorithm) {
  for (const Simulated& found : size.all)
    if (found.algorithm == algorithm) return found.whole_us();
  return 0;
}

Result<BestBySize::Size> simulate_size(SimulateOptions options, uint64_t bytes,
                                       const std::vector<selection::Spec>& specs) {
  options.query.bytes = bytes;
  BestBySize::Size size{bytes, simulate_specs(options, specs)};
  if (size.all.empty())
    return Status(Code::kNotSupported,
                  "no algorithm can serve a call of " + size_to_text(bytes) + " bytes" + why_none(options));
  return size;
}

// What is not far behind at one of the two sizes.
std::vector<selection::Spec> contenders(const std::vector<selection::Spec>& specs, const BestBySize::Size& low,
                                        const BestBySize::Size& high) {
  constexpr double kFarBehind = 2;
  std::vector<selection::Spec> kept;
  for (const selection::Spec& spec : specs) {
    const std::string name = to_text(spec);
    const auto is_near = [&](const BestBySize::Size& size) {
      const double us = time_of(size, name);
      return us > 0 && us < kFarBehind * size.all.front().whole_us();
    };
    if (is_near(low) || is_near(high)) kept.push_back(spec);
  }
  return kept;
}

// Crossovers between two sizes, from one to the next.
Status find_crossovers(const SimulateOptions& options, const std::vector<selection::Spec>& all, BestBySize::Size low,
                       const BestBySize::Size& last, std::vector<Crossover>& crossovers) {
  const std::vector<selection::Spec> specs = contenders(all, low, last);
  constexpr uint64_t kClose = 100;
  const uint64_t element = std::max(options.query.element_bytes, 1u);
  const auto best_of = [](const BestBySize::Size& size) { return size.all.front().algorithm; };
  while (best_of(low) != best_of(last)) {
    BestBySize::Size high = last;
    while (high.bytes - low.bytes > std::max(element, low.bytes / kClose)) {
      const uint64_t middle = (low.bytes + high.bytes) / 2 / element * element;
      if (middle <= low.bytes) break;
      Result<BestBySize::Size> found = simulate_size(options, middle, specs);
      if (!found.is_ok()) return found.take_status();
      BestBySize::Size& end = best_of(found.value()) == best_of(low) ? low : high;
      end = found.take();
    }
    crossovers.push_back(
        {best_of(low), low.bytes, best_of(high), high.bytes, high.all.front().whole_us(), time_of(high, best_of(low))});
    low = std::move(high);
  }
  return Status::ok();
}

}  // namespace

Result<Simulated> simulate_spec(const SimulateOptions& options, const selection::Spec* spec) {
  const selection::Table table(options.network.costs);
  Result<selection::Choice> choice = selection::choose(options.query, table, spec);
  if (!choice.is_ok()) return choice.take_status();
  Result<Simulated> found = simulate_choice(options, choice.value());
  if (found.is_ok())
    found.value().algorithm = to_text(selection::Spec{choice.value().algorithm, choice.value().degree});
  return found;
}

std::vector<selection::Spec> specs_worth_simulating(const selection::Query& query) {
  std::vector<selection::Spec> specs;
  for (const algorithms::Algorithm* algorithm : algorithms::all()) {
    if (algorithm->collective != schedule::base_of(query.collective) || !selection::is_worth_trying(query, *algorithm))
      continue;
    for (const uint32_t degree : selection::degrees_worth_trying(query, *algorithm))
      specs.push_back({algorithm, degree});
  }
  return specs;
}

std::vector<Simulated> simulate_all(const SimulateOptions& options) {
  return simulate_specs(options, specs_worth_simulating(options.query));
}

std::vector<Simulated> simulate_specs(const SimulateOptions& options, const std::vector<selection::Spec>& specs) {
  std::vector<Simulated> all;
  for (const selection::Spec& spec : specs) {
    Result<Simulated> found = simulate_spec(options, &spec);
    if (found.is_ok()) all.push_back(found.take());
  }
  std::sort(all.begin(), all.end(), [](const Simulated& a, const Simulated& b) {
    return std::pair(a.whole_us(), a.algorithm) < std::pair(b.whole_us(), b.algorithm);
  });
  return all;
}

std::string why_none(const SimulateOptions& options) {
  const Result<Simulated> chosen = simulate_spec(options, nullptr);
  return chosen.is_ok() ? "" : ": " + std::string(chosen.status().message());
}

Result<BestBySize> best_by_size(const SimulateOptions& options, const std::vector<uint64_t>& sizes) {
  BestBySize best;
  const std::vector<selection::Spec> specs = specs_worth_simulating(options.query);
  for (const uint64_t bytes : sizes) {
    Result<BestBySize::Size> found = simulate_size(options, bytes, specs);
    if (!found.is_ok()) return found.take_status();
    if (!best.sizes.empty())
      HOCKET_TRY(find_crossovers(options, specs, best.sizes.back(), found.value(), best.crossovers));
    best.sizes.push_back(found.take());
  }
  return best;
}

}  // namespace hocket::command
