#include "services/approaches/options.hpp"

#include "host-tuning/cpus.hpp"

#include <limits>
#include <ostream>
#include <stdexcept>

#include <boost/program_options.hpp>
#include <fmt/core.h>

namespace heddle::approaches {

namespace {

namespace po = boost::program_options;

// Texts as given on the command line; checked and converted by the functions below.
struct Texts {
  std::string port, threads, cpus, pool_threads, fiber_stack_kib, cache, read_only, max_connections,
      client_connections;
};

po::options_description describe(Options& options, Texts& texts) {
  po::options_description all("Options", 110, 60);
  const auto text = [](std::string& target) { return po::value<std::string>(&target); };
  all.add_options()("approach", text(options.approach)->value_name("NAME"),
                    "the approach to serve (see --list-approaches); required")(
      "address", text(options.address)->value_name("IP"), "IP address to listen on [127.0.0.1]")(
      "port", text(texts.port)->value_name("N"), "TCP port, 1 to 65535 [8080]")(
      "threads", text(texts.threads)->value_name("N"), "I/O threads, 1 to 1024 [one per CPU of --cpus]")(
      "cpus", text(texts.cpus)->value_name("LIST"),
      "CPUs to run on, such as 0-3,5 [all that the process may use]")(
      "pool-threads", text(texts.pool_threads)->value_name("N"),
      "threadpool-*: blocking threads at most, 1 to 100000 [5000]")(
      "fiber-stack-kib", text(texts.fiber_stack_kib)->value_name("N"),
      "fibers-*: stack of a fiber in KiB, 32 to 8192 [64]")(
      "repository", text(options.repository)->value_name("NAME"), "where movies live: memory [memory]")(
      "cache", text(texts.cache)->value_name("on|off"),
      "cache movies by director for one hour after write [on]")(
      "read-only", text(texts.read_only)->value_name("on|off"),
      "POST echoes its movies without saving them [on]")("upstream-url",
                                                         text(options.upstream_url)->value_name("URL"),
                                                         "where calls with a depth go [this service]")(
      "congestion-control", text(options.congestion_control)->value_name("NAME"),
      "TCP congestion control of all sockets [cubic if the kernel has it]")(
      "max-connections", text(texts.max_connections)->value_name("N"),
      "connections accepted at a time; more wait in the backlog [what the descriptor limit allows]")(
      "client-connections", text(texts.client_connections)->value_name("N"),
      "connections to the upstream at most [65000, or a quarter of the descriptor limit]")(
      "metrics-csv", text(options.metrics_csv)->value_name("FILE"),
      "write one row of metrics a second to FILE, replacing it [none]")(
      "print-config", po::bool_switch(&options.print_config),
      "print every effective setting as JSON and exit")("list-approaches",
                                                        po::bool_switch(&options.list_approaches),
                                                        "print the approaches, one a line, and exit")(
      "version", po::bool_switch(&options.version), "print the version and exit")(
      "help,h", po::bool_switch(&options.help), "print this help and exit");
  return all;
}

void number(std::size_t& target, const std::string& text, const char* option, std::size_t low,
            std::size_t high) {
  if (text.empty()) return;
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos && text.size() <= 12;
  const std::size_t value = digits ? std::stoull(text) : 0;
  if (!digits || value < low || value > high) {
    throw std::invalid_argument(
        fmt::format("--{}: '{}' is no whole number from {} to {}", option, text, low, high));
  }
  target = value;
}

void on_off(bool& target, const std::string& text, const char* option) {
  if (text.empty()) return;
  if (text != "on" && text != "off") {
    throw std::invalid_argument(fmt::format("--{}: '{}' is neither on nor off", option, text));
  }
  target = text == "on";
}

void convert(Options& options, const Texts& texts) {
  std::size_t port = options.port;
  number(port, texts.port, "port", 1, 65'535);
  options.port = static_cast<std::uint16_t>(port);
  number(options.threads, texts.threads, "threads", 1, 1024);
  number(options.pool_threads, texts.pool_threads, "pool-threads", 1, 100'000);
  number(options.fiber_stack_kib, texts.fiber_stack_kib, "fiber-stack-kib", 32, 8192);
  number(options.max_connections, texts.max_connections, "max-connections", 1, 10'000'000);
  number(options.client_connections, texts.client_connections, "client-connections", 1, 10'000'000);
  on_off(options.cache, texts.cache, "cache");
  on_off(options.read_only, texts.read_only, "read-only");
  if (options.repository != "memory") {
    throw std::invalid_argument(
        fmt::format("--repository: '{}' is unknown; known: memory", options.repository));
  }
  try {
    if (!texts.cpus.empty()) options.cpus = host::parse_cpu_list(texts.cpus);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("--cpus: {}", error.what()));
  }
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  Options options;
  Texts texts;
  const auto described = describe(options, texts);
  try {
    po::variables_map values;
    // No guessing of abbreviations, and no positional arguments: a stray word is an error.
    const auto style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    const auto parsed =
        po::command_line_parser(argc, argv).options(described).positional({}).style(style).run();
    po::store(parsed, values);
    po::notify(values);
  } catch (const po::error& error) {
    throw std::invalid_argument(fmt::format("{}; --help lists the options", error.what()));
  }
  convert(options, texts);
  return options;
}

void print_help(std::ostream& out) {
  Options options;
  Texts texts;
  out << "Usage: heddle-service --approach NAME [options]\n\n"
         "Serves the benchmark's HTTP microservice in one concurrency model until SIGTERM or SIGINT.\n\n"
      << describe(options, texts)
      << "\nExit codes: 0 stopped after a signal; 2 wrong usage, or the address can not be listened on.\n"
         "Example: heddle-service --approach fibers-restinio --port 8080\n";
}

}  // namespace heddle::approaches
