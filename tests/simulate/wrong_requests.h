#pragma once

#include "simulate/conversation.h"

namespace verbatim::simulate {

// A request that must be refused with one status and change nothing.
struct WrongRequest {
  std::string name;
  std::string method = "POST";
  std::string target;
  std::string body;
  int status = 400;
  bool by_ids_only = false;  // by messages it may be right: the engine is asked
};

WrongRequest some_wrong_request(const Conversation& conversation, base::Random& random);

}  // namespace verbatim::simulate
