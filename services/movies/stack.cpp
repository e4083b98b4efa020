#include "services/movies/stack.hpp"

#include "services/movies/cached_repository.hpp"
#include "services/movies/memory_repository.hpp"
#include "services/movies/read_only_repository.hpp"

namespace heddle::movies {

RepositoryStack::RepositoryStack(StackSettings settings) {
  layers_.push_back(std::make_unique<MemoryRepository>());
  if (settings.cache) {
    cache_ = std::make_unique<MovieCache>();
    layers_.push_back(std::make_unique<CachedRepository>(*layers_.back(), *cache_));
  }
  if (settings.read_only) layers_.push_back(std::make_unique<ReadOnlyRepository>(*layers_.back()));
}

}  // namespace heddle::movies
