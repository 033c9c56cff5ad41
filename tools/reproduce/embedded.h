// SPDX-License-Identifier: BSD-3-Clause
// Files that the command carries inside itself (cmake/embed_texts.cmake): what the papers say
// (src/simulation/papers/*.json), how that is modelled (models/*.json there), and which algorithms the papers' MPIs
// chose (src/selection/presets/mvapich-*.table).
//
// Thread safety: constants.
#pragma once

#include <span>
#include <string_view>

namespace hocket::reproduce {

struct EmbeddedText {
  std::string_view name;  // the file's, without its ending
  std::string_view text;
};
extern const std::span<const EmbeddedText> kPaperTexts;
extern const std::span<const EmbeddedText> kModelTexts;
extern const std::span<const EmbeddedText> kChoiceTables;

}  // namespace hocket::reproduce
