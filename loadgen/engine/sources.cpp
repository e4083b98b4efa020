#include "loadgen/engine/sources.hpp"

#include "loadgen/engine/resolve.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <stdexcept>

#include <fmt/format.h>

namespace heddle::engine {
namespace {

std::string listed(const std::vector<Address>& sources) {
  std::string text;
  for (const auto& source : sources) text += (text.empty() ? "" : ", ") + source.text;
  return text;
}

bool is_host_of(std::uint32_t host, const Address& target) {
  if (target.family() != AF_INET) return false;
  return ntohl(reinterpret_cast<const sockaddr_in&>(target.storage).sin_addr.s_addr) == host;
}

}  // namespace

std::vector<Address> listed_sources(const std::vector<std::string>& texts) {
  std::vector<Address> sources;
  for (const auto& text : texts) {
    auto source = source_address(text);
    const auto is_it = [&](const Address& known) { return same_address(known, source); };
    if (std::any_of(sources.begin(), sources.end(), is_it)) {
      throw std::invalid_argument(fmt::format("sourceAddresses: found '{}' twice", text));
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

std::vector<Address> loopback_sources(std::size_t count, const std::vector<Address>& targets) {
  std::vector<Address> sources;
  for (std::uint32_t host = 0x7f000002; sources.size() < count; ++host) {
    if ((host & 0xff) == 0 || (host & 0xff) == 255) continue;  // look like network and broadcast addresses
    const auto is_it = [host](const Address& target) { return is_host_of(host, target); };
    if (std::any_of(targets.begin(), targets.end(), is_it)) continue;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(host);
    sources.push_back(make_address(reinterpret_cast<const sockaddr*>(&address), sizeof address, false));
  }
  return sources;
}

std::vector<std::uint32_t> sources_for(const Address& target, const std::vector<Address>& sources) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < sources.size(); ++i) {
    if (sources[i].family() == target.family()) numbers.push_back(i);
  }
  return numbers;
}

std::vector<Address> those_with_a_source(const std::string& name, std::vector<Address> answers,
                                         const std::vector<Address>& sources,
                                         std::vector<std::string>& warnings) {
  if (sources.empty()) return answers;
  const auto unreachable = [&](const Address& answer) {
    return !answer.is_unix() && sources_for(answer, sources).empty();
  };
  if (std::all_of(answers.begin(), answers.end(), unreachable)) {
    throw std::invalid_argument(fmt::format(
        "sourceAddresses: found {}, accepted: at least one address of the family of the target {} ({})",
        listed(sources), name, answers.front().text));
  }
  for (const auto& answer : answers) {
    if (unreachable(answer)) {
      warnings.push_back(
          fmt::format("{}: its address {} is left out: no address of its family among the "
                      "source addresses {}",
                      name, answer.text, listed(sources)));
    }
  }
  std::erase_if(answers, unreachable);
  return answers;
}

}  // namespace heddle::engine
