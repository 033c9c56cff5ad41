// SPDX-License-Identifier: BSD-3-Clause
#include "documentation/settings_text.h"

namespace hocket::documentation {

using environment::Kind;
using environment::Setting;

std::string_view introduction_to_settings() {
  constexpr std::string_view kText = R"(
hocket is set by variables of the environment; nobody needs any of them. An unset or empty variable means its
default. `hocket info` prints this list with the values in effect.

Nothing is replaced silently. A value that can't be understood, a misspelt name (`HOCKET_ALREDUCE`), a table that
can't be read and a forced algorithm that can't be honoured are errors, whose message names the variable, its
value and what is accepted. `hocket_context_create` or `hocket_comm_create` returns them; `hocket exec` stops
before the launch; in an MPI program every collective call raises `MPI_ERR_OTHER` on all ranks,
whichever rank has the variable, unless `HOCKET_DISABLE=1` passes them through. Other names that begin with
`HOCKET_` are reported only: a module system or a container may have set `HOCKET_ROOT`. An algorithm that goes
by multicast is forced on communicators of several nodes; within one the table chooses.

Under an MPI, rank 0's values hold for all ranks wherever ranks must decide alike.
)";
  return kText.substr(1);
}

std::string accepted_by(const Setting& setting) {
  switch (setting.kind) {
    case Kind::kFlag:
      return "`0` or `1`";
    case Kind::kFlagOrFile:
      return "`0`, `1` or a path that ends in `.json`";
    case Kind::kInteger:
      return std::string(setting.choices) + ", " + std::to_string(setting.minimum) + " to " +
             std::to_string(setting.maximum);
    case Kind::kSize:
      return "bytes; `64K`, `64KB` and `64KiB` are the same, also with `M`, `G`";
    case Kind::kChoice:
      return "`" + std::string(setting.choices) + "`";
    case Kind::kText:
      return setting.choices;
  }
  return "";
}

std::string default_of(const Setting& setting) {
  return *setting.default_value ? "`" + std::string(setting.default_value) + "`" : "not set";
}

}  // namespace hocket::documentation
