#include "services/movies/cached_repository.hpp"

#include <utility>

namespace heddle::movies {

MovieList CachedRepository::find_by_director(std::string_view last_name) {
  MovieCache::Lookup lookup = cache_.find(last_name);
  if (lookup.movies) return std::move(lookup.movies);
  MovieList loaded = target_.find_by_director(last_name);
  cache_.put(last_name, loaded, lookup.generation);
  return loaded;
}

// Evicts after the save: what a reader loads from here on has the new movies in it.
std::vector<api::Movie> CachedRepository::save(std::vector<api::Movie> movies) {
  std::vector<api::Movie> saved = target_.save(std::move(movies));
  for (const api::Movie& movie : saved) {
    for (const api::Person& director : movie.directors) cache_.evict(director.last_name);
  }
  return saved;
}

}  // namespace heddle::movies
