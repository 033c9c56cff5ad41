// SPDX-License-Identifier: BSD-3-Clause
// As the benchmark library's own main(), with defaults for a machine that others use too: repetitions of everything in
// random order, and of each one line with the medians. What is asked for on the command line comes later and wins.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace {

// Random order is for measuring, not for reading.
class MediansByName : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      std::string name = run.run_name.function_name;
      if (!run.run_name.args.empty()) name += "/" + run.run_name.args;
      if (run.error_occurred) {
        lines_[name] = run.error_message;
      } else if (run.aggregate_name == "median" || run.repetitions == 1) {
        lines_[name] = line(run);
      }
    }
  }
  void Finalize() override {
    std::printf("%-42s %6s %10s %10s %14s\n", "ns a call", "steps", "by hand", "hocket", "over, a step");
    for (const auto& [name, line] : lines_) std::printf("%-42s %s\n", name.c_str(), line.c_str());
  }

 private:
  static std::string line(const Run& run) {
    const auto counter = [&](const char* name) {
      const auto found = run.counters.find(name);
      return found != run.counters.end() ? found->second.value : 0.0;
    };
    char text[128];
    std::snprintf(text, sizeof text, "%6.0f %10.1f %10.1f %14.1f", counter("steps"), counter("hand_ns"),
                  counter("hocket_ns"), counter("over_ns_per_step"));
    return text;
  }

  std::map<std::string, std::string> lines_;
};

}  // namespace

int main(int argc, char** argv) {
  char repetitions[] = "--benchmark_repetitions=21";
  char interleaving[] = "--benchmark_enable_random_interleaving=true";
  char min_time[] = "--benchmark_min_time=0.01";
  std::vector<char*> arguments = {argv[0], repetitions, interleaving, min_time};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  MediansByName reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
  return 0;
}
