#include "services/servers/server.hpp"

#include <stdexcept>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <fmt/core.h>

namespace heddle::servers {

void require_free_port(const std::string& address, std::uint16_t port) {
  using boost::asio::ip::tcp;
  boost::asio::io_context context;
  boost::system::error_code error;
  const auto host = boost::asio::ip::make_address(address);
  // SO_REUSEADDR passes over connections in TIME_WAIT; without SO_REUSEPORT any listener is a conflict.
  const tcp::endpoint endpoint(host, port);
  tcp::acceptor probe(context);
  probe.open(endpoint.protocol(), error);
  if (!error) probe.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) probe.bind(endpoint, error);
  if (error)
    throw std::runtime_error(fmt::format("cannot listen on {}:{}: {}", address, port, error.message()));
}

}  // namespace heddle::servers
