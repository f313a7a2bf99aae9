#pragma once

#include "base/random.h"
#include "store/store.h"

namespace verbatim::store::testing {

// A turn with something of its own in every field that a store keeps, as the random numbers say.
// `path_prompt` and `path_letters` are the store's to make.
std::unique_ptr<Turn> full_turn(base::Random& random, const std::string& session, TurnPtr parent);

// Of a turn.
std::unique_ptr<StoredResponse> full_response(const std::string& id, const Turn& turn);

std::shared_ptr<const trajectory::RootInfo> full_root(base::Random& random);

// All fields of both that are kept, those of the parent and the root by what they say. Empty: they
// are the same; else which field differs.
std::string difference(const Turn& a, const Turn& b);

}  // namespace verbatim::store::testing
