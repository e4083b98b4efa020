// A repository read through a cache.
#pragma once

#include "services/movies/movie_cache.hpp"
#include "services/movies/repository.hpp"

namespace heddle::movies {

// find reads through the cache (an empty answer is an answer and is kept too); save evicts the lists of every
// director of the saved movies. Two threads that miss at the same moment both ask `target`.
class CachedRepository final : public Repository {
 public:
  CachedRepository(Repository& target, MovieCache& cache) : target_(target), cache_(cache) {}

  [[nodiscard]] MovieList find_by_director(std::string_view last_name) override;
  [[nodiscard]] std::vector<api::Movie> save(std::vector<api::Movie> movies) override;

 private:
  Repository& target_;
  MovieCache& cache_;
};

}  // namespace heddle::movies
