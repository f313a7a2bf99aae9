#pragma once

#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "api/testing/peer_play.h"

namespace verbatim::api::testing {

// One thing that was tried on, or read of, the token-recording gateways that were there before this
// one, and what becomes of it here in each mode of a session.
struct PeerRow {
  // "probe 12": the twelfth of the histories, answers and requests that they were asked with over
  // HTTP; "defect 3a": of what their sources show.
  const char* id;
  const char* what;
  // What they make of it, and why this gateway does something else, or the same.
  const char* peers;
  std::size_t recorded;            // turns in front of it, see Play::steps()
  std::vector<std::string> steps;  // what the engine does behind them
  base::Task<std::string> (*play)(Play&);
  // What comes of it, as Play tells: in a tree, in a linear session, in a strict one.
  const char* tree;
  const char* linear;
  const char* strict;
  const char* kind = "sglang";  // of the engine, and how it is driven
  const char* driven = "";
};

// For GoogleTest.
inline void PrintTo(const PeerRow& row, std::ostream* out) {
  *out << row.id;
}

// Each row is in one of them.
std::span<const PeerRow> peer_histories();  // what a client makes of the history
std::span<const PeerRow> peer_answers();    // what an engine answers
std::span<const PeerRow> peer_requests();   // what is asked for, and how it ends
std::span<const PeerRow> peer_defects();    // what their sources show

// Where a row can't be played on a simulated engine: what stands for it.
struct PeerNote {
  const char* id;
  const char* what;
  const char* instead;
};
std::span<const PeerNote> peer_notes();

}  // namespace verbatim::api::testing
