#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/task.h"
#include "gateway/access.h"
#include "net/http_server.h"

namespace verbatim::api {

// What a handler gets beside the services.
struct Call {
  const net::Request& request;
  net::Responder& responder;
  base::CancelSignal& cancel;
  std::string id;    // what stands at {id} of the route
  std::string item;  // and at {item}
  gateway::Caller caller;
};

template <class Services>
struct Route {
  std::string_view method;
  std::string_view path;  // "{id}" and "{item}" stand for one segment each
  base::Task<void> (*handler)(Services&, Call&);
};

// What of a path a route leaves open.
struct Named {
  std::string_view id, item;
};
// Does `path` have the form `pattern`? Takes what stands at "{id}" and "{item}".
bool matches(std::string_view pattern, std::string_view path, Named& named);
// HEAD is a GET whose body the server leaves out.
bool allows(std::string_view route_method, std::string_view method);
base::Task<void> not_allowed(net::Responder& responder, const net::Request& request,
                             std::string allow);
base::Task<void> no_such_path(net::Responder& responder, const net::Request& request,
                              std::string_view remedy);

// Lets the route of a request answer. Unknown paths are 404 with the remedy, known paths with
// another method 405 with Allow.
template <class Services>
base::Task<void> dispatch(std::span<const Route<Services>> routes, Services& services,
                          const net::Request& request, net::Responder& responder,
                          base::CancelSignal& cancel, std::string_view remedy,
                          const gateway::Caller& caller) {
  std::string allow;
  for (const auto& route : routes) {
    Named named;
    if (!matches(route.path, request.path, named)) continue;
    if (allows(route.method, request.method)) {
      Call call{request, responder, cancel, std::string(named.id), std::string(named.item), caller};
      co_return co_await route.handler(services, call);
    }
    if (!allow.empty()) allow += ", ";
    allow += route.method;
  }
  if (!allow.empty()) co_return co_await not_allowed(responder, request, std::move(allow));
  co_await no_such_path(responder, request, remedy);
}

}  // namespace verbatim::api
