// SPDX-License-Identifier: BSD-3-Clause
// Which of the words that there are a misspelt one was meant to be.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hocket {

// How many letters must be inserted, deleted or replaced to make one word of the other.
size_t edit_distance(std::string_view a, std::string_view b);

// Of `known` the one that differs least from `word`, if it is likely to be meant, else "".
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

// "did you mean `broadcast`? ", or "" after nearest_word() has found nothing.
std::string question_after(std::string_view meant);

}  // namespace hocket
