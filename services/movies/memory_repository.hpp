// Movies in memory, seeded with eight films of three directors.
#pragma once

#include "services/movies/repository.hpp"

#include <cstdint>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace heddle::movies {

class MemoryRepository final : public Repository {
 public:
  MemoryRepository();  // holds seed_movies(), with ids

  [[nodiscard]] MovieList find_by_director(std::string_view last_name) override;

  // Gives new ids to the movies and to everything in them: a POST never changes what is there.
  [[nodiscard]] std::vector<api::Movie> save(std::vector<api::Movie> movies) override;

 private:
  void assign_ids(api::Movie& movie);
  void index(const api::Movie& movie);

  std::shared_mutex mutex_;
  std::int64_t next_movie_id_ = 1;
  std::int64_t next_person_id_ = 1;
  std::int64_t next_character_id_ = 1;
  std::int64_t next_award_id_ = 1;
  std::unordered_map<std::string, MovieList> by_director_;
};

// The eight films as the ancestor serves them: birthdays of the three directors only. No ids.
[[nodiscard]] std::vector<api::Movie> seed_movies();

}  // namespace heddle::movies
