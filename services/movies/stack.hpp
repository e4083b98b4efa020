// The repositories put together as the service's options ask.
#pragma once

#include "services/movies/movie_cache.hpp"
#include "services/movies/repository.hpp"

#include <memory>
#include <vector>

namespace heddle::movies {

struct StackSettings {
  bool cache = true;
  bool read_only = true;
};

// A memory repository, a cache around it, and a read-only layer outermost: as in the ancestor, a save that
// stores nothing evicts nothing. Lives as long as the service.
class RepositoryStack {
 public:
  explicit RepositoryStack(StackSettings settings = {});

  [[nodiscard]] Repository& repository() { return *layers_.back(); }
  [[nodiscard]] const MovieCache* cache() const { return cache_.get(); }  // null: the cache is off

 private:
  std::unique_ptr<MovieCache> cache_;
  std::vector<std::unique_ptr<Repository>> layers_;  // each refers to the one before it
};

}  // namespace heddle::movies
