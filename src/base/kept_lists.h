// SPDX-License-Identifier: BSD-3-Clause
// Lists of numbers that are known by a number of their own, the same for equal lists, so that what names one is as
// small as a number. They are kept until the process ends: for lists that people give, of which there are few.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <vector>

namespace hocket {

// From 1.
uint32_t number_of_list(std::vector<uint32_t> list);
// Of a number that has been given; stays where it is.
const std::vector<uint32_t>& kept_list(uint32_t number);

}  // namespace hocket
