// SPDX-License-Identifier: BSD-3-Clause
#include "core/report/site_table.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

namespace hocket::interposer {
namespace {

template <size_t N>
void copy_text(char (&to)[N], std::string_view text) {
  to[text.copy(to, N - 1)] = '\0';
}

bool is_same_place(const PlacedSite& a, const PlacedSite& b) {
  return a.collective == b.collective && a.offset == b.offset && std::strcmp(a.object, b.object) == 0;
}

// Alike for all orders in which tables are merged, as long as nothing is left out.
bool is_before(const PlacedSite& a, const PlacedSite& b) {
  if (a.us != b.us) return a.us > b.us;
  if (const int order = std::strcmp(a.object, b.object); order != 0) return order < 0;
  return a.offset != b.offset ? a.offset < b.offset : a.collective < b.collective;
}

// Of the program itself the loader knows the name by which it was called, which may be no path.
void copy_path(PlacedSite& place, const Dl_info& info, const link_map& object) {
  if (object.l_name != nullptr && object.l_name[0] != '\0') return copy_text(place.object, object.l_name);
  const ssize_t length = readlink("/proc/self/exe", place.object, sizeof place.object - 1);
  if (length <= 0) return copy_text(place.object, info.dli_fname);
  place.object[length] = '\0';
}

PlacedSite place(const CallSite& site) {
  PlacedSite place;
  place.collective = site.collective;
  place.calls = site.calls;
  place.us = site.ns / 1000;
  place.waited_us = site.waited_ns / 1000;
  Dl_info info = {};
  void* found = nullptr;
  if (site.address == nullptr || dladdr1(site.address, &info, &found, RTLD_DL_LINKMAP) == 0 || found == nullptr)
    return place;
  const auto& object = *static_cast<const link_map*>(found);
  copy_path(place, info, object);
  // The call stands before the address to which it returns; there is the next line, maybe.
  place.offset = reinterpret_cast<uint64_t>(site.address) - object.l_addr - 1;
  if (info.dli_sname != nullptr) copy_text(place.function, info.dli_sname);
  return place;
}

// Keeps of all places those that took most time.
void fill(SiteTable& table, std::vector<PlacedSite>& all) {
  std::sort(all.begin(), all.end(), is_before);
  table.used = 0;
  for (const PlacedSite& one : all) {
    const bool has_room = table.used < SiteTable::kMost && one.object[0] != '\0';
    if (has_room)
      table.places[table.used++] = one;
    else
      add_numbers(table.others, one);
  }
}

void add_to(std::vector<PlacedSite>& all, const PlacedSite& one) {
  const auto same =
      std::find_if(all.begin(), all.end(), [&](const PlacedSite& its) { return is_same_place(its, one); });
  if (same == all.end())
    all.push_back(one);
  else
    add_numbers(*same, one);
}

}  // namespace

void add_numbers(PlacedSite& to, const PlacedSite& more) {
  to.calls += more.calls;
  to.us += more.us;
  to.waited_us += more.waited_us;
}

SiteTable place_sites(std::span<const CallSite> sites) {
  std::vector<PlacedSite> all;
  for (const CallSite& site : sites) add_to(all, place(site));
  SiteTable table;
  fill(table, all);
  return table;
}

void merge(SiteTable& table, const SiteTable& more) {
  std::vector<PlacedSite> all(table.sites().begin(), table.sites().end());
  for (const PlacedSite& one : more.sites()) add_to(all, one);
  add_numbers(table.others, more.others);
  fill(table, all);
}

}  // namespace hocket::interposer
