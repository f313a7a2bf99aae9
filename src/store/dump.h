#pragma once

#include <string>

#include "trajectory/turn.h"

namespace verbatim::store {

// Appends every recorded field of a turn as one line of text: what Store::dump() is made of, the
// same for all stores.
void append_dump(std::string& out, const trajectory::Turn& turn);

}  // namespace verbatim::store
