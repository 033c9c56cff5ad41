// SPDX-License-Identifier: BSD-3-Clause
#include "pages/page.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "pages/text.h"
#include "tools/balanced_tags.h"

namespace hocket::pages {
namespace {

constexpr const char* kHostile = "<script>alert(\"1\")</script> & 'x' \x1b[31m \xff\n`code<b>`";

Page full_page(const std::string& words) {
  Page page(words);
  page.add_paragraph(words);
  Section& first = page.add_section(words, words);
  Section& second = page.add_section("B", "another");
  first.add_paragraph(words);
  first.add_table({words, {words, "us"}, {{words, "3.5"}, {"x", "12.25"}, {"longer than its headers", "-", words}}});
  first.add_chart({words, {words, words}, {words, ""}, {{words, {{1, 2}}, Style::kBars}}, {}});
  first.add_chart({"second", {}, {}, {}, {}});
  first.set_verdict(Verdict::kReproduced, words);
  second.set_verdict(Verdict::kNotReproduced, "why not");
  page.add_section("B", "the same id").set_verdict(Verdict::kInPart, "");
  return page;
}

TEST(PagesPage, HtmlIsBalancedAndTheSameEachTime) {
  const std::string html = full_page("plain").html();
  EXPECT_EQ(what_is_unbalanced(html), "");
  EXPECT_EQ(html, full_page("plain").html());
  for (const char* wanted :
       {"<html lang=\"en\">", "name=\"viewport\"", "href=\"#B\"", "id=\"B\"", "href=\"#B-2\"", "id=\"B-2\"",
        "<td class=\"number\">12.25</td>", "badge reproduced", "badge in-part", "badge not-reproduced"})
    EXPECT_NE(html.find(wanted), std::string::npos) << wanted;
}

TEST(PagesPage, RowsThatStandAloneNameTheirCells) {
  Page page("Title");
  page.add_section("A", "one").add_table({"", {"what", "paper <b>"}, {{"a barrier", "25.72 us"}, {"another"}}, true});
  const std::string html = page.html();
  EXPECT_EQ(what_is_unbalanced(html), "");
  EXPECT_NE(html.find("<table class=\"stacks\">"), std::string::npos);
  EXPECT_NE(html.find("data-label=\"paper &lt;b&gt;\">25.72 us</td>"), std::string::npos);
  EXPECT_EQ(html.find("data-label=\"what\""), std::string::npos) << "the first cell says it itself";
}

TEST(PagesPage, NeedsNothingFromElsewhere) {
  const std::string html = full_page("plain").html();
  for (const char* unwanted : {"<script", "src=", "@import", "url(", "<link"})
    EXPECT_EQ(html.find(unwanted), std::string::npos) << unwanted;
}

TEST(PagesPage, EscapesHostileWords) {
  const std::string html = full_page(kHostile).html();
  EXPECT_EQ(what_is_unbalanced(html), "");
  for (const char* unwanted : {"<script", "<b>", "\x1b", "\xff"}) EXPECT_EQ(html.find(unwanted), std::string::npos);
  const std::string text = full_page(kHostile).text();
  for (const char* unwanted : {"\x1b", "\xff"}) EXPECT_EQ(text.find(unwanted), std::string::npos);
  EXPECT_NO_THROW((void)full_page(kHostile).json().dump());
}

TEST(PagesPage, TextAlignsColumns) {
  Page page("Title");
  Section& section = page.add_section("A9", "Barriers");
  section.add_table({"in us", {"name", "time"}, {{"é", "3.5"}, {"longer", "12.25"}}});
  section.set_verdict(Verdict::kInPart, "half of it");
  EXPECT_EQ(page.text(),
            "Title\n=====\n\nA9  Barriers\n------------\n\nin us\nname     time\n------  -----\né         3.5\n"
            "longer  12.25\n\nreproduced in part: half of it\n");
}

TEST(PagesPage, JsonHasTablesVerdictsAndPoints) {
  const nlohmann::json json = nlohmann::json::parse(full_page("plain").json().dump());
  const nlohmann::json& first = json.at("sections").at(0);
  EXPECT_EQ(first.at("verdict"), "reproduced");
  EXPECT_EQ(first.at("content").at(1).at("rows").at(1).at(1), "12.25");
  EXPECT_EQ(first.at("content").at(2).at("series").at(0).at("points").at(0).at("y"), 2);
}

TEST(PagesPage, AnEmptyOneIsAPage) {
  EXPECT_EQ(what_is_unbalanced(Page("").html()), "");
  Page page("x");
  page.add_section("", "");
  page.add_section("", "");
  EXPECT_EQ(what_is_unbalanced(page.html()), "");
  EXPECT_NE(page.html().find("id=\"section-2\""), std::string::npos);
}

TEST(PagesText, NumbersHaveThreeSignificantDigits) {
  const std::pair<double, const char*> cases[] = {
      {25.72, "25.7"}, {1024.6, "1025"}, {3, "3"},      {0.02134, "0.0213"}, {-0.5, "-0.5"},
      {0, "0"},        {2.5e7, "2.5e7"}, {9.999, "10"}, {1.5e-6, "1.5e-6"},  {1e300, "1e300"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(number_text(value), text);
}

TEST(PagesText, TellsNumbersFromWords) {
  for (const char* number : {"3", "-1.6 %", "< 0.1", "12.9 (11 to 14)", "±2", ".5", "5.6 us"})
    EXPECT_TRUE(is_number(number)) << number;
  for (const char* word : {"", "-", "rank 3", "2 nodes, of four ranks each", "+"})
    EXPECT_FALSE(is_number(word)) << word;
}

TEST(PagesText, ReplacesWhatIsNoUtf8) {
  const std::string replacement = "\xEF\xBF\xBD";
  EXPECT_EQ(printable("µ€𝄞"), "µ€𝄞");
  EXPECT_EQ(printable("a\tb\nc"), "a b c");
  for (const char* bad :
       {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80", "\x7F", "\xC2\x85", "\xEF\xBF\xBF"}) {
    EXPECT_EQ(printable(bad).substr(0, 3), replacement);
  }
  EXPECT_EQ(shortened("µµµµ", 3), "µµ…");
}

}  // namespace
}  // namespace hocket::pages
