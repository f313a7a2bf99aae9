#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cassette/cassette.h"

namespace verbatim::cassette {

// What of two requests is compared. Two are alike when method and path are equal, the query's
// parameters, in any order, and the bodies once what means the same is written the same way:
//   - keys in any order; numbers by value; a member that is null, and `stream: false`, as if
//   absent;
//   - `input` as a string is one message of a user; an item with a role is of type `message`; its
//     content as a string is one part of text; a part without annotations or logprobs has neither.
// Not compared: headers, parameters that hold secrets, and the members of the body's top level that
// the caller names. Everything else counts, ids and unknown members too.
struct NormalRequest {
  std::string method;
  std::string path;
  Pairs query;       // sorted
  std::string body;  // JSON with sorted keys
  bool operator==(const NormalRequest&) const = default;
};

// `body` may be empty: as "{}". Error: it is no JSON object.
base::Result<NormalRequest> normalise(std::string_view method, std::string_view path, Pairs query,
                                      std::string_view body,
                                      const std::vector<std::string>& ignored = {});

// Where two requests differ first, for people: "body.input[2].content[0].text: found \"a\",
// recorded
// \"b\"". Empty: they don't.
std::string first_difference(const NormalRequest& found, const NormalRequest& recorded);

// "a=b&c" as pairs, as they were sent; without parameters whose name says that they hold a secret.
Pairs read_query(std::string_view query);

}  // namespace verbatim::cassette
