#include "services/servers/exchange.hpp"

#include "services/waiting/fault.hpp"

#include <exception>

namespace heddle::servers {

void Exchange::respond(api::Response&& response) {
  auto& by_class = response.status < 400   ? counters_->responses_2xx
                   : response.status < 500 ? counters_->responses_4xx
                                           : counters_->responses_5xx;
  by_class.fetch_add(1, std::memory_order_relaxed);
  if (request_.method == api::Method::head) response.body.clear();  // a HEAD answer never has a body
  try {
    respond_(std::move(handle_), std::move(response));
  } catch (const std::exception& error) {
    waiting::report_fault("handing over a response", error.what());  // that peer gets none; all others go on
  }
}

}  // namespace heddle::servers
