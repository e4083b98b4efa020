// The repositories put together as the service's options ask.
#pragma once

#include "services/movies/movie_cache.hpp"
#include "services/movies/repository.hpp"

#include <memory>

namespace heddle::movies {

struct StackSettings {
  bool cache = true;
  bool read_only = true;
};

// Owns memory repository, read-only layer and cache. Lives as long as the service.
class RepositoryStack {
 public:
  explicit RepositoryStack(StackSettings settings = {});

  [[nodiscard]] Repository& repository() { return *top_; }
  [[nodiscard]] const MovieCache* cache() const { return cache_.get(); }  // null: the cache is off

 private:
  std::unique_ptr<Repository> memory_;
  std::unique_ptr<Repository> read_only_;
  std::unique_ptr<MovieCache> cache_;
  std::unique_ptr<Repository> cached_;
  Repository* top_ = nullptr;
};

}  // namespace heddle::movies
