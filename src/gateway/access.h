#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/task.h"
#include "net/http_types.h"
#include "store/store.h"

namespace verbatim::gateway {

// Who sends a request.
struct Caller {
  std::string owner;       // empty: of a server without keys
  std::string session_id;  // whose secret it shows; empty: it shows none
};

// The keys of a server's owners. Immutable, shared by all threads.
class ApiKeys {
 public:
  // Reads lines `OWNER KEY`; empty ones and those that begin with # are passed over. An owner may
  // have several keys. Errors name the line, never a key: also where it is no plain UTF-8 text.
  static base::Result<ApiKeys> read(std::string_view text);

  [[nodiscard]] bool empty() const { return keys_.empty(); }
  // How many there are; 1 without keys.
  [[nodiscard]] std::size_t owners() const;
  // Whose key it is; null: nobody's. Takes the same time for each key of one length.
  [[nodiscard]] const std::string* owner_of(std::string_view key) const;

 private:
  struct Key {
    std::string hash;
    std::string owner;
  };
  std::vector<Key> keys_;
};

// A session's secret begins with it, so that nobody's key is looked up in the store for one.
inline constexpr std::string_view kSecretPrefix = "vbs_";
std::string new_secret(base::Random& random);
std::string secret_hash(std::string_view secret);

// Finds out who sends a request: by `Authorization: Bearer` or `x-api-key`, an owner's key or a
// session's secret. Without keys everybody is the owner "". Errors: kUnauthorized with the remedy,
// also for a secret whose session is gone; what the store says.
base::Task<base::Result<Caller>> identify(const ApiKeys& keys, store::Store& store,
                                          const net::Headers& headers);

// The same without a look into the store, for what is the operator's: a session's secret is no key
// there.
base::Status check_key(const ApiKeys& keys, const net::Headers& headers);

}  // namespace verbatim::gateway
