#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/runtime.h"
#include "engine/engine.h"
#include "engine/http_peer.h"
#include "engine/mode.h"
#include "engine/trace.h"
#include "net/url.h"

namespace verbatim::engine {

using Recognise = base::Task<std::vector<Trace>> (*)(HttpPeer& peer, base::MonoTime deadline);

struct Choice;
// `mode` is one of the kind's.
using Make = std::unique_ptr<Engine> (*)(base::Runtime& runtime, const Choice& choice,
                                         const Mode& mode);

// A kind of engine that this build drives.
struct Kind {
  std::string_view name;        // of the kind, in commands and records
  std::string_view product;     // what people call it
  std::string_view owner;       // owned_by in its GET /v1/models; empty: anybody
  std::string_view context;     // what the context length is called there
  std::string_view variable;    // environment variable that names such a server; empty: none
  std::span<const Mode> modes;  // the first is the default
  // Releases whose answers were recorded from a running server and are compared in tests
  // (tests/captures); others are driven by what their source says.
  std::span<const std::string_view> recorded;
  Recognise recognise;       // looks for traces of it, with GETs; null: it leaves none
  Make make;                 // its engine by ids; null: it has no mode of them
  bool low_is_soon = false;  // its sense of `priority` in requests by messages
  base::Acks acks = base::Acks::kDelayed;  // of streams
};
std::span<const Kind> kinds();
// "sglang, vllm": the kinds that are driven by token ids.
std::string kinds_by_ids();
// Null where no kind, or no mode of it, has the name.
const Kind* find_kind(std::string_view name);
const Mode* find_mode(const Kind& kind, std::string_view name);
// The first of its modes by this path; null where it has none.
const Mode* first_mode(const Kind& kind, Path path);
// "chat-text, responses": the names of its modes; by one path only.
std::string mode_names(const Kind& kind);
std::string mode_names(const Kind& kind, Path path);

// Whether a release is one of `since` or later: "0.5.18" >= "0.5.9". A release that does not begin
// with numbers counts as new enough.
bool release_has(std::string_view release, std::string_view since);

// Whether a server of this release was recorded: of "0.32", "0.32.1" is one.
bool is_recorded(const Kind& kind, std::string_view release);

// The server's root: without the /v1 that users put behind base URLs.
net::Url server_root(net::Url url);

// Which engine to drive, and how.
struct Choice {
  std::string kind;  // "auto" for settle() only
  std::string mode;  // empty: the kind's default
  net::Url url;      // its server_root() is driven
  std::string api_key;
  std::uint64_t vocab_size = 0;
  std::string model;  // its name there, for requests of this side's own where several are listed
  std::optional<base::Duration> idle_timeout;  // absent: as PeerOptions has it
  std::shared_ptr<KnownPages> known;           // see PeerOptions
};
// Its server, under its key.
PeerOptions peer_of(const Choice& choice);
// By which path a choice is driven; that of ids where its kind is not known yet.
Path path_of(const Choice& choice);
// Errors: kInvalidRequest, field "kind" or "mode", with the words there are; kUnsupported where
// nothing but a relay is meant.
base::Result<std::unique_ptr<Engine>> make_engine(base::Runtime& runtime, const Choice& choice);

}  // namespace verbatim::engine
