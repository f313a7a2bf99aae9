#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "trajectory/digest.h"
#include "trajectory/spelling.h"
#include "trajectory/turn.h"

namespace verbatim::trajectory {

// Of turns that share one digest a look-up brings at most so many: those of the sessions made last,
// of one session those committed last.
inline constexpr std::size_t kMostAlike = 256;
// Digests behind those that brought so many turns are not looked up.
inline constexpr std::size_t kMostFound = 4096;

// Where recorded turns are looked up: the store implements it. Two queries per request, three where
// as many turns are alike as a look-up brings.
class NodeSource {
 public:
  virtual ~NodeSource() = default;
  // Committed turns whose digest is one of `digests`, in any order, within the bounds above. A
  // digest names its scope (session or door, owner, root) too.
  virtual base::Task<base::Result<std::vector<TurnPtr>>> find(std::span<const Digest> digests) = 0;
  // The turn committed last below this root digest, with another one where one shares its digest;
  // empty where there is none. Only a short cut: a source may always answer empty.
  virtual base::Task<base::Result<std::vector<TurnPtr>>> newest(const Digest& root);
  // Committed turns with these ids, of whatever session and owner; those that are none are left
  // out.
  virtual base::Task<base::Result<std::vector<TurnPtr>>> by_ids(
      std::span<const std::uint64_t> ids) = 0;
};

// Does a request go on behind `turn` as agents mostly do: its history is repeated to the letter
// (reasoning may be left out), and no other answer follows? Then place() would find no deeper turn,
// and none that fits better, unless another shares its digest. Costs a comparison, no hashing.
bool continues(const TurnPtr& turn, std::span<const message::Message> messages);

// The digest that stands for the empty history of a root: turns are only ever matched below an
// equal one.
struct RootKey {
  std::string_view scope;  // "session:<id>" or "chat:<owner>"
  const RootInfo* root = nullptr;
  std::string_view head_arguments;     // template arguments that change more than the generation
                                       // prompt, canonical JSON
  const Spelling* spelling = nullptr;  // of the agent: histories are compared by its rules
};
Digest root_digest(DigestBuilder& builder, const RootKey& key);

// What a request continues: messages[0, suffix) are the history of `parent`, the rest is new. No
// parent: all is new.
struct Placement {
  TurnPtr parent;
  std::size_t suffix = 0;
  bool ambiguous = false;
  bool spelled = false;  // equal by the agent's spelling alone
};

// Which spellings of a history are the recorded one.
enum class Equality {
  kValue,  // the equality of docs/design.md 5
  kExact,  // beyond that, texts and arguments byte for byte
};

// Positions whose digests are worth a query: those of assistant messages before the last message,
// deepest first.
std::vector<Digest> attach_digests(std::span<const message::Message> messages,
                                   std::span<const Digest> chain);

// Digests of `candidates` of which there may be more turns than a look-up brings.
std::vector<Digest> cut_digests(std::span<const TurnPtr> candidates);

// The deepest candidate that fits. Pure. Of several at one depth: reasoning that the client sent
// must not differ; then equal ids of calls (handles are given back unchanged), exact raw match,
// then reasoning that is equal rather than absent, then the newest; what is left equal is reported
// as ambiguous. A call whose value is equal by the agent's spelling alone must have its id. Where
// there may be more turns of a digest than were looked up, one is only taken that none of those
// could fit better: all that the client sent is as recorded, or the ids of its calls are, which no
// other turn has.
Placement place(std::span<const message::Message> messages, std::span<const Digest> chain,
                std::span<const TurnPtr> candidates, Equality equality = Equality::kValue,
                const Spelling* spelling = nullptr);

}  // namespace verbatim::trajectory
