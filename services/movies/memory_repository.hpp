// Movies in memory, seeded with eight films of three directors.
#pragma once

#include "services/movies/repository.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace heddle::movies {

class MemoryRepository final : public Repository {
 public:
  MemoryRepository();  // holds seed_movies(), with ids

  [[nodiscard]] MovieList find_by_director(std::string_view last_name) override;

  // Every movie is a new one with new ids, whatever ids it came with; only people are recognised, by name and
  // birthday. A save copies the lists of its directors: fine for tests, not made for a million films.
  [[nodiscard]] std::vector<api::Movie> save(std::vector<api::Movie> movies) override;

 private:
  using PersonIdentity = std::tuple<std::string, std::string, std::optional<std::chrono::year_month_day>>;

  void assign_id(api::Person& person);
  void assign_ids(api::Movie& movie);
  void index(const api::Movie& movie);

  std::shared_mutex mutex_;
  std::int64_t next_movie_id_ = 1;
  std::int64_t next_person_id_ = 1;
  std::int64_t next_character_id_ = 1;
  std::int64_t next_award_id_ = 1;
  std::map<PersonIdentity, std::int64_t> person_ids_;
  std::map<std::string, MovieList, std::less<>> by_director_;
};

// The eight films as the ancestor serves them: birthdays of the three directors only. No ids.
[[nodiscard]] std::vector<api::Movie> seed_movies();

}  // namespace heddle::movies
