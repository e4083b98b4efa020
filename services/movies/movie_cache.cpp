#include "services/movies/movie_cache.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

namespace heddle::movies {
namespace {

// Gives every thread a number, so that neighbours count in different places.
std::size_t thread_number() {
  static std::atomic<std::size_t> next{0};
  thread_local const std::size_t kNumber = next.fetch_add(1, std::memory_order_relaxed);
  return kNumber;
}

}  // namespace

MovieCache::MovieCache(CacheSettings settings, CacheClock clock)
    : settings_(settings),
      max_keys_per_shard_(std::max<std::size_t>(1, settings.max_keys / kShards)),
      clock_(std::move(clock)) {}

MovieCache::Shard& MovieCache::shard_of(std::string_view key) {
  return shards_[StringHash{}(key) % kShards];
}

MovieCache::Lookup MovieCache::find(std::string_view last_name) {
  Shard& shard = shard_of(last_name);
  Lookup lookup;
  const auto now = clock_();
  {
    const std::shared_lock lock(shard.mutex);
    lookup.generation = shard.generation;
    const auto found = shard.entries.find(last_name);
    if (found != shard.entries.end() && now < found->second.expires) lookup.movies = found->second.movies;
  }
  Counters& counters = counters_[thread_number() % kShards];
  (lookup.movies ? counters.hits : counters.misses).fetch_add(1, std::memory_order_relaxed);
  return lookup;
}

void MovieCache::put(std::string_view last_name, MovieList movies, std::uint64_t generation) {
  if (last_name.size() > settings_.max_key_bytes) return;
  const auto now = clock_();
  Shard& shard = shard_of(last_name);
  const std::unique_lock lock(shard.mutex);
  if (shard.generation != generation) return;
  const auto [entry, added] = shard.entries.try_emplace(std::string(last_name));
  if (!added) shard.order.erase(entry->second.place);
  shard.order.push_back(entry->first);
  entry->second = {.movies = std::move(movies),
                   .expires = now + settings_.expire_after_write,
                   .place = std::prev(shard.order.end())};
  while (true) {
    const auto oldest = shard.entries.find(shard.order.front());
    const bool expired = oldest->second.expires <= now;
    if (oldest == entry || (!expired && shard.entries.size() <= max_keys_per_shard_)) return;
    erase(shard, oldest);
  }
}

void MovieCache::evict(std::string_view last_name) {
  Shard& shard = shard_of(last_name);
  const std::unique_lock lock(shard.mutex);
  ++shard.generation;
  const auto found = shard.entries.find(last_name);
  if (found != shard.entries.end()) erase(shard, found);
}

void MovieCache::erase(Shard& shard, Entries::iterator entry) {
  shard.order.erase(entry->second.place);
  shard.entries.erase(entry);
}

std::uint64_t MovieCache::hits() const {
  std::uint64_t sum = 0;
  for (const Counters& counters : counters_) sum += counters.hits.load(std::memory_order_relaxed);
  return sum;
}

std::uint64_t MovieCache::misses() const {
  std::uint64_t sum = 0;
  for (const Counters& counters : counters_) sum += counters.misses.load(std::memory_order_relaxed);
  return sum;
}

std::size_t MovieCache::size() const {
  std::size_t sum = 0;
  for (const Shard& shard : shards_) {
    const std::shared_lock lock(shard.mutex);
    sum += shard.entries.size();
  }
  return sum;
}

}  // namespace heddle::movies
