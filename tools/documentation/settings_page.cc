// SPDX-License-Identifier: BSD-3-Clause
#include "documentation/pages.h"
#include "documentation/settings_text.h"

namespace hocket::documentation {

Page settings_page(const Edition& edition) {
  RoffPage page("hocket-environment", 7, edition, "hocket settings");
  page.names({"hocket-environment"}, "variables of the environment by which hocket is set");
  page.section("DESCRIPTION");
  page.blocks(split_blocks(introduction_to_settings()));
  page.section("ENVIRONMENT");
  for (const environment::Setting& setting : environment::settings())
    page.item(roff_bold(setting.name), roff_text(std::string(setting.help) + ". Accepted: " + accepted_by(setting) +
                                                 "; default: " + default_of(setting) + "."));
  page.see_also({roff_reference("hocket", 1), roff_reference("hocket-info", 1), roff_reference("libhocket", 3)});
  return {"man7/hocket-environment.7", page.text()};
}

}  // namespace hocket::documentation
