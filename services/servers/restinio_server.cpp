#include "host-tuning/congestion.hpp"
#include "services/servers/restinio_compat.hpp"
#include "services/servers/server.hpp"

#include <stdexcept>
#include <sys/socket.h>
#include <utility>

#include <boost/asio/detail/socket_option.hpp>
#include <fmt/core.h>

namespace heddle::servers {

namespace {

using ReusePort = boost::asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

// Counts connections; called on the I/O thread that owns them.
class ConnectionCounter {
 public:
  explicit ConnectionCounter(metrics::ShardCounters& counters) : counters_(counters) {}

  void state_changed(const restinio::connection_state::notice_t& notice) noexcept {
    const auto cause = notice.cause();
    if (std::holds_alternative<restinio::connection_state::accepted_t>(cause)) {
      counters_.connections_accepted.fetch_add(1, std::memory_order_relaxed);
    } else if (std::holds_alternative<restinio::connection_state::closed_t>(cause)) {
      counters_.connections_closed.fetch_add(1, std::memory_order_relaxed);
    }
  }

 private:
  metrics::ShardCounters& counters_;
};

class RestinioServer;

struct Handler {
  RestinioServer* server;
  restinio::request_handling_status_t operator()(restinio::request_handle_t request) const;
};

struct Traits : restinio::traits_t<restinio::asio_timer_manager_t, restinio::null_logger_t, Handler,
                                   restinio::noop_strand_t> {
  using connection_state_listener_t = ConnectionCounter;
  static constexpr bool use_connection_count_limiter = true;
};

restinio::http_status_line_t status_line(int status) {
  using restinio::http_status_code_t;
  const auto code = http_status_code_t{static_cast<std::uint16_t>(status)};
  switch (status) {
    case 200:
      return restinio::status_ok();
    case 400:
      return restinio::status_bad_request();
    case 404:
      return restinio::status_not_found();
    case 405:
      return restinio::status_method_not_allowed();
    case 413:
      return {code, "Content Too Large"};
    case 415:
      return restinio::status_unsupported_media_type();
    case 500:
      return restinio::status_internal_server_error();
    case 502:
      return restinio::status_bad_gateway();
    case 503:
      return restinio::status_service_unavailable();
    case 504:
      return restinio::status_gateway_time_out();
    default:
      return {code, "Unknown"};
  }
}

std::atomic<bool> closing{false};  // of the whole process: answers then tell the peer to close

void respond(std::shared_ptr<void>&& handle, api::Response&& response) {
  const auto request = std::static_pointer_cast<restinio::request_t>(std::move(handle));
  auto builder = request->create_response(status_line(response.status));
  if (!response.content_type.empty()) {
    builder.append_header(restinio::http_field::content_type, std::string(response.content_type));
  }
  if (!response.allow.empty())
    builder.append_header(restinio::http_field::allow, std::string(response.allow));
  if (closing.load(std::memory_order_relaxed)) builder.connection_close();
  builder.set_body(std::move(response.body)).done();
}

class RestinioServer final : public Server {
 public:
  RestinioServer(waiting::IoThread& loop, const ServerOptions& options, metrics::ShardCounters& counters,
                 Dispatch dispatch)
      : options_(options),
        counters_(counters),
        dispatch_(std::move(dispatch)),
        server_(restinio::external_io_context(loop.context()),
                [this](auto& settings) { configure(settings); }) {}

  void open() override {
    try {
      server_.open_sync();
      // RESTinio's own listen() asks for 4,096 whatever somaxconn says: ask again.
      if (listen(listener_, options_.backlog) != 0)
        throw std::system_error(errno, std::system_category(), "listen");
    } catch (const std::exception& error) {
      throw std::runtime_error(
          fmt::format("cannot listen on {}:{}: {}", options_.address, options_.port, error.what()));
    }
  }

  void close() override {
    closing.store(true, std::memory_order_relaxed);
    server_.close_sync();
  }

  void handle(restinio::request_handle_t request) {
    counters_.requests.fetch_add(1, std::memory_order_relaxed);
    const auto& header = request->header();
    const api::Request view{method_of(header), header.request_target(),
                            field_of(header, restinio::http_field::content_type), request->body()};
    dispatch_(Exchange(view, std::move(request), respond, counters_));
  }

 private:
  template <class Settings>
  void configure(Settings& settings) {
    settings.address(restinio::asio_ns::ip::make_address(options_.address))
        .port(options_.port)
        .request_handler(Handler{this})
        .connection_state_listener(std::make_shared<ConnectionCounter>(counters_))
        .max_parallel_connections(options_.max_connections)
        .buffer_size(options_.read_buffer_bytes)
        .read_next_http_message_timelimit(options_.timeout)
        .handle_request_timeout(options_.timeout)
        .write_http_response_timelimit(options_.timeout)
        .timer_manager(options_.timer_period)
        .incoming_http_msg_limits(restinio::incoming_http_msg_limits_t{}
                                      .max_url_size(options_.max_target_bytes)
                                      .max_field_name_size(options_.max_field_bytes)
                                      .max_field_value_size(options_.max_field_bytes)
                                      .max_field_count(options_.max_fields)
                                      .max_body_size(options_.max_body_bytes))
        .acceptor_options_setter([](restinio::acceptor_options_t& options) {
          options.set_option(restinio::asio_ns::ip::tcp::acceptor::reuse_address(true));
          options.set_option(ReusePort(true));
        })
        .acceptor_post_bind_hook([this](restinio::asio_ns::ip::tcp::acceptor& acceptor) {
          listener_ = acceptor.native_handle();
          if (!options_.congestion_control.empty()) {
            host::set_congestion_control(listener_, options_.congestion_control);
          }
        })
        .socket_options_setter([](restinio::socket_options_t& options) {
          options.set_option(restinio::asio_ns::ip::tcp::no_delay(true));
        });
  }

  const ServerOptions options_;
  metrics::ShardCounters& counters_;
  Dispatch dispatch_;
  int listener_ = -1;
  restinio::http_server_t<Traits> server_;
};

restinio::request_handling_status_t Handler::operator()(restinio::request_handle_t request) const {
  server->handle(std::move(request));
  return restinio::request_accepted();
}

}  // namespace

std::unique_ptr<Server> make_restinio_server(waiting::IoThread& loop, const ServerOptions& options,
                                             metrics::ShardCounters& counters, Dispatch dispatch) {
  return std::make_unique<RestinioServer>(loop, options, counters, std::move(dispatch));
}

}  // namespace heddle::servers
