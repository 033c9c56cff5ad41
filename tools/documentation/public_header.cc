// SPDX-License-Identifier: BSD-3-Clause
#include "documentation/public_header.h"

#include <algorithm>
#include <cctype>

#include "documentation/text_blocks.h"

namespace hocket::documentation {
namespace {

constexpr std::string_view kExported = "HOCKET_API ";

std::string trimmed_end(std::string_view text) { return std::string(text.substr(0, text.find_last_not_of(" \n") + 1)); }

// Without "/*", " *" and "*/".
std::string without_marks(std::string_view comment) {
  std::string text;
  for (std::string_view line : split_lines(comment)) {
    const size_t mark = line.find_first_not_of(' ');
    if (mark == std::string_view::npos) continue;
    line.remove_prefix(line.substr(mark).starts_with("/*") ? mark + 2 : line[mark] == '*' ? mark + 1 : mark);
    if (line.starts_with(' ')) line.remove_prefix(1);
    const size_t end = line == "/" ? 0 : line.find("*/");
    text += trimmed_end(line.substr(0, end)) + "\n";
    if (end != std::string_view::npos) break;
  }
  return trimmed_end(text);
}

// "--- title ---", and what else the comment says.
bool opens_section(const std::string& comment, HeaderSection& section) {
  constexpr std::string_view kRule = "--- ";
  if (!comment.starts_with(kRule)) return false;
  const size_t line_end = comment.find('\n');
  const std::string line = comment.substr(0, line_end);
  section.title = line.substr(kRule.size(), line.find(" --", kRule.size()) - kRule.size());
  if (line_end != std::string::npos) section.text = comment.substr(comment.find_first_not_of('\n', line_end));
  return true;
}

// The word of letters, digits and lines that ends at `end`.
std::string word_before(std::string_view text, size_t end) {
  size_t begin = end;
  while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) != 0 || text[begin - 1] == '_'))
    --begin;
  return std::string(text.substr(begin, end - begin));
}

// What goes on in further lines keeps its place below the first.
std::string without_mark_of_export(std::string_view code) {
  std::string text;
  for (const std::string_view line : split_lines(code))
    text += std::string(line.substr(std::min(kExported.size(), line.size()))) + "\n";
  return text;
}

std::string type_defined_by(std::string_view code) {
  if (code.starts_with("typedef struct ") && code.find('{') != std::string_view::npos)
    return word_before(code, code.rfind(';'));
  const size_t pointer = code.starts_with("typedef ") ? code.find("(*") : std::string_view::npos;
  return pointer == std::string_view::npos ? "" : word_before(code, code.find(')', pointer));
}

// "  HOCKET_OK = 0, /* meaning ... */": a comment may go on in lines that follow.
std::vector<StatusValue> statuses_of(std::string_view code) {
  std::vector<StatusValue> found;
  std::string comment;
  for (const std::string_view line : split_lines(code)) {
    const size_t equals = line.find(" = ");
    if (line.starts_with("  HOCKET_") && equals != std::string_view::npos)
      found.push_back({std::string(line.substr(2, equals - 2)), "", line[equals + 3] == '-'});
    const size_t open = line.find("/*");
    if (open != std::string_view::npos) comment.clear();
    if (found.empty() || (open == std::string_view::npos && comment.empty())) continue;
    comment += std::string(line.substr(open == std::string_view::npos ? 0 : open)) + "\n";
    if (line.find("*/") == std::string_view::npos) continue;
    const std::string text = without_marks(comment);
    for (const std::string_view part : split_lines(text))
      found.back().meaning += (found.back().meaning.empty() ? "" : " ") +
                              std::string(part.substr(std::min(part.find_first_not_of(' '), part.size())));
    comment.clear();
  }
  return found;
}

// What one file adds to those that have been read.
class Reader {
 public:
  Reader(const HeaderText& header, PublicHeaders& headers)
      : lines_(split_lines(header.text)), headers_(headers), number_(headers.names.size()) {
    headers.names.push_back(header.name);
    headers.introductions.emplace_back();
  }

  Status read() {
    while (next_ < lines_.size()) {
      const std::string_view line = lines_[next_];
      if (line.starts_with("/*"))
        take_comment();
      else if (line.empty() || is_for_the_compiler(line))
        ++next_, is_open_ = false;
      else
        take_code();
    }
    if (headers_.statuses.empty()) return missing("typedef enum hocket_status");
    for (const HeaderSection& section : headers_.sections)
      for (const Declarations& group : section.groups)
        if (section.header == number_ && !group.functions.empty()) return Status::ok();
    return missing("HOCKET_API");
  }

 private:
  static Status missing(const std::string& what) {
    return {Code::kInvalidArgument, "this is not hocket's public header: it has no `" + what + "`"};
  }

  static bool is_for_the_compiler(std::string_view line) {
    return (line.starts_with('#') && !line.starts_with("#define HOCKET_")) || line == "}" ||
           line.starts_with("extern \"C\"") || line.starts_with("#define HOCKET_API") ||
           (line.starts_with("#define HOCKET_") && line.ends_with("_H"));
  }

  void take_comment() {
    std::string marked;
    bool is_complete = false;
    while (!is_complete && next_ < lines_.size()) {
      const std::string_view line = lines_[next_++];
      marked += std::string(line) + "\n";
      is_complete = line.find("*/") != std::string_view::npos;
    }
    std::string comment = without_marks(marked);
    HeaderSection section;
    if (comment.starts_with("SPDX")) return;
    if (headers_.introductions[number_].empty()) {
      headers_.introductions[number_] = std::move(comment);
    } else if (opens_section(comment, section)) {
      section.header = number_;
      headers_.sections.push_back(std::move(section));
    } else {
      open_group().comment = std::move(comment);
      return;
    }
    is_open_ = false;
  }

  // To the end of the statement, which closes all braces.
  void take_code() {
    std::string code;
    int depth = 0;
    do {
      const std::string_view line = lines_[next_++];
      code += std::string(line) + "\n";
      for (const char c : line) depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (depth == 0 && (line.starts_with('#') || code.find(';') != std::string::npos)) break;
    } while (next_ < lines_.size());
    if (code.starts_with("typedef enum hocket_status ")) {
      headers_.statuses = statuses_of(code);
      return;
    }
    Declarations& group = is_open_ ? headers_.sections.back().groups.back() : open_group();
    if (group.type.empty()) group.type = type_defined_by(code);
    if (code.starts_with(kExported)) {
      code = without_mark_of_export(code);
      group.functions.push_back(word_before(code, code.find('(')));
    }
    group.code += code;
  }

  Declarations& open_group() {
    if (headers_.sections.empty() || headers_.sections.back().header != number_)
      headers_.sections.emplace_back().header = number_;
    headers_.sections.back().groups.emplace_back();
    is_open_ = true;
    return headers_.sections.back().groups.back();
  }

  std::vector<std::string_view> lines_;
  size_t next_ = 0;
  bool is_open_ = false;  // the last group takes what follows
  PublicHeaders& headers_;
  size_t number_;
};

}  // namespace

Result<PublicHeaders> read_public_headers(const std::vector<HeaderText>& headers) {
  PublicHeaders read;
  for (const HeaderText& header : headers) {
    const Status status = Reader(header, read).read();
    if (!status.is_ok()) return Status(status.code(), header.name + ": " + status.message());
  }
  return read;
}

}  // namespace hocket::documentation
