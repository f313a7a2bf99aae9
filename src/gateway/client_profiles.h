#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trajectory/spelling.h"

namespace verbatim::gateway {

// What is known of an agent: by which name it shows itself, and what it writes otherwise than it
// was given. Data, read from profiles/<name>.json or a file of the operator's
// (docs/guides/client-profiles.md).
struct ClientProfile {
  std::string name;
  std::string about;
  std::vector<std::string> user_agents;  // what its User-Agent begins with
  trajectory::Spelling spelling;
};

// Reads one profile file. Errors name the key.
base::Result<ClientProfile> parse_client_profile(std::string_view json);

// The profiles of a server. Filled at start, then immutable and shared by all threads.
class ClientProfiles {
 public:
  // Words in place of a name: by what a client says of itself; no profile.
  static constexpr std::string_view kAuto = "auto";
  static constexpr std::string_view kNone = "none";

  ClientProfiles();  // those that this build knows

  // Takes the place of one of its name, and stands before those that are there already.
  void add(ClientProfile profile);
  // Which one requests get where their session says nothing. Errors: kInvalidRequest with the names
  // there are.
  base::Status set_default(std::string name);
  // Is it one of the words, or a profile's name? kInvalidRequest with the names there are.
  [[nodiscard]] base::Status check(std::string_view name) const;

  // How the client of a request spells: as `asked` has it, which a session may say and may be
  // empty, else as the default has it. Null: it has no profile. Lives as long as this.
  [[nodiscard]] base::Result<const trajectory::Spelling*> spelling(
      std::string_view asked, std::string_view user_agent) const;
  [[nodiscard]] const std::vector<ClientProfile>& all() const { return profiles_; }

 private:
  [[nodiscard]] const ClientProfile* find(std::string_view name) const;

  std::vector<ClientProfile> profiles_;
  std::string default_ = std::string(kAuto);
};

}  // namespace verbatim::gateway
