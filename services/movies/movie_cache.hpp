// Lists of movies by a director's last name, kept for an hour after they were written. Apart from the
// repository that reads through it, so that a model with asynchronous database calls can use it too.
#pragma once

#include "services/movies/repository.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace heddle::movies {

using CacheClock = std::function<std::chrono::steady_clock::time_point()>;

struct CacheSettings {
  std::chrono::seconds expire_after_write = std::chrono::hours{1};  // as in the ancestor's Caffeine spec
  std::size_t max_keys = 10'000;    // names come from clients: memory must not grow with them
  std::size_t max_key_bytes = 256;  // a longer name is looked up, not kept
};

// Thread-safe. A hit takes one shared lock for the length of a hash lookup; nothing is called back under a
// lock.
class MovieCache {
 public:
  explicit MovieCache(CacheSettings settings = {}, CacheClock clock = std::chrono::steady_clock::now);

  struct Lookup {
    MovieList movies;              // null: a miss
    std::uint64_t generation = 0;  // hand it to put()
  };

  // Counts a hit or a miss.
  [[nodiscard]] Lookup find(std::string_view last_name);

  // Keeps what was loaded after a miss, unless something in the key's shard was evicted since: then it may be
  // out of date. Drops what has expired, and with all places taken the oldest entry of the shard.
  void put(std::string_view last_name, MovieList movies, std::uint64_t generation);

  void evict(std::string_view last_name);

  [[nodiscard]] std::uint64_t hits() const;
  [[nodiscard]] std::uint64_t misses() const;
  [[nodiscard]] std::size_t size() const;  // entries held, expired ones not yet dropped included

 private:
  static constexpr std::size_t kShards = 16;

  struct StringHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using Order = std::list<std::string_view>;  // views of the keys in `entries`, which stay where they are
  struct Entry {
    MovieList movies;
    std::chrono::steady_clock::time_point expires;
    Order::iterator place;
  };
  using Entries = std::unordered_map<std::string, Entry, StringHash, std::equal_to<>>;
  struct alignas(64) Shard {
    mutable std::shared_mutex mutex;
    std::uint64_t generation = 0;  // evictions so far
    Entries entries;
    Order order;  // as written: with one lifetime for all also the order of expiry
  };
  struct alignas(64) Counters {
    std::atomic<std::uint64_t> hits{0};
    std::atomic<std::uint64_t> misses{0};
  };

  [[nodiscard]] Shard& shard_of(std::string_view key);
  static void erase(Shard& shard, Entries::iterator entry);

  CacheSettings settings_;
  std::size_t max_keys_per_shard_;
  CacheClock clock_;
  std::array<Shard, kShards> shards_;
  std::array<Counters, kShards> counters_;  // by thread, so that readers do not share a line
};

}  // namespace heddle::movies
