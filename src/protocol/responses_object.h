#pragma once

#include <span>
#include <string>
#include <vector>

#include "protocol/conversation.h"

namespace verbatim::protocol {

// The members of a response object that are not of its answer: `echo` is what the caller wrote,
// completed by what holds where it wrote nothing, so that every key of the Open Responses schema is
// there (of package openresponses-types, version 2.4.0).
std::vector<RawMember> response_members(std::span<const RawMember> echo,
                                        const std::string& previous_response_id,
                                        const std::string& conversation = {});

}  // namespace verbatim::protocol
