// SPDX-License-Identifier: BSD-3-Clause
// A figure or number of a paper, beside what the model says and what this machine has measured, and the verdict.
//
// The verdict is the model's: on claims that are to be predicted, follow from the algorithm, or must be consistent with
// others; settings don't count, and what is good for fitting only keeps a figure from being reproduced whole, where it
// is missed. If there is no model, measurements alone can reproduce it in part at most.
//
// Thread safety: one thread.
#pragma once

#include <string>
#include <vector>

#include "pages/page.h"
#include "reproduce/finding.h"
#include "reproduce/models.h"
#include "reproduce/papers.h"
#include "reproduce/results.h"

namespace hocket::reproduce {

struct Compared {
  const Claim* claim = nullptr;
  Finding model;
  std::string why_no_model;  // where there is none
  Finding measured;
};

// What else was measured, or had been predicted before: its file and note, and what it says to the claims.
struct Besides {
  std::string what;
  std::vector<std::pair<const Claim*, Finding>> findings;
};

struct Comparison {
  const Item* item = nullptr;
  std::vector<Line> model;
  std::vector<Line> measured;
  std::string source;  // of what was measured, in words; "" if nothing was
  std::vector<Compared> claims;
  std::vector<Besides> besides;
  pages::Verdict verdict = pages::Verdict::kNone;
  std::string why;
};

Comparison compare(const Item& item, Models& models, Results& results);

// Of claims that have been compared.
void judge(Comparison& comparison);

}  // namespace hocket::reproduce
