#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "gateway/access.h"
#include "net/http_server.h"
#include "store/store.h"

namespace verbatim::gateway {

// What is kept of responses: read, listed, deleted. Another owner's are not there.
class ResponsesEndpoint {
 public:
  explicit ResponsesEndpoint(store::Store& store) : store_(store) {}

  // GET /v1/responses/{id}: the object as the client got it.
  base::Task<void> get(const net::Request& http, net::Responder& responder, const Caller& caller,
                       std::string id);
  // DELETE /v1/responses/{id}.
  base::Task<void> remove(net::Responder& responder, const Caller& caller, std::string id);
  // GET /v1/responses/{id}/input_items: what its request added, in pages.
  base::Task<void> input_items(const net::Request& http, net::Responder& responder,
                               const Caller& caller, std::string id);

 private:
  base::Task<base::Result<store::StoredResponsePtr>> find(const Caller& caller, std::string id);

  store::Store& store_;
};

// A page of a list as OpenAI's API gives it: {"object":"list","data","first_id","last_id",
// "has_more"}.
struct ItemPage {
  std::uint64_t limit = 20;
  bool descending = true;
  std::string after;  // an id; empty: from the first
};
// Reads limit, order and after of a query; `include` asks for nothing that is left out.
base::Result<ItemPage> read_item_page(std::string_view query);
struct ListedItem {
  std::string id;
  std::string_view body;  // JSON; outlives it
};
// A list of items as OpenAI's API gives it. `more`: there are others behind them.
std::string write_item_list(const std::vector<ListedItem>& items, bool more);
// `items`: a JSON array in ascending order. kNotFound where `after` is none of them.
base::Result<std::string> write_item_page(const std::string& items, const ItemPage& page);

}  // namespace verbatim::gateway
