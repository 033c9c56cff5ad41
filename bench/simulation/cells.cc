// SPDX-License-Identifier: BSD-3-Clause
// How well the cost model does on what `hocket tune --json` has measured: its parameters fitted to that, how far
// predictions are off, and what choosing by them costs.
//
//   simulation_cells FILE                bench/results/one-machine/cells.json, for instance
#include <cstdio>

#include "tune/earlier.h"
#include "tune/fit.h"

int main(int argc, char** argv) {
  using namespace hocket;
  if (argc != 2) {
    std::fprintf(stderr,
                 "simulation_cells: which file of measurements? For instance\n"
                 "  simulation_cells bench/results/one-machine/cells.json\n");
    return 2;
  }
  const Result<command::Survey> survey = command::read_survey(argv[1]);
  if (!survey.is_ok()) {
    std::fprintf(stderr, "simulation_cells: %s\n", survey.status().message());
    return 1;
  }
  constexpr double kLimitS = 60;
  command::TuneOptions options;
  options.cores = 2;
  const command::Fit fit = command::fit_model(options, survey.value().measurements, kLimitS);
  std::printf("%zu calls in %zu cells: predictions are off by a factor of %.3f, choosing by them costs %.3f\n",
              fit.measurements, fit.cells, fit.off_by, fit.costs);
  std::printf("alpha_us=%.4f beta_us_per_kib=%.4f gamma_us_per_kib=%.4f switch_us=%.4f\n", fit.parameters.alpha_us,
              fit.parameters.beta_us_per_kib, fit.parameters.gamma_us_per_kib, fit.parameters.switch_us);
  return 0;
}
