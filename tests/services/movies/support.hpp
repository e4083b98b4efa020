// Movies that are enough for a test, and a repository that counts.
#pragma once

#include "services/movies/repository.hpp"

#include <atomic>
#include <string>
#include <utility>
#include <vector>

namespace heddle::movies::test {

inline api::Person person(std::string last_name) {
  return {.id = {}, .first_name = "A", .last_name = std::move(last_name), .birthday = {}};
}

inline api::Movie movie(std::string title, std::vector<api::Person> directors) {
  api::Movie movie;
  movie.title = std::move(title);
  movie.release_year = 2000;
  movie.directors = std::move(directors);
  return movie;
}

inline MovieList list_of(std::string title) {
  return std::make_shared<const std::vector<api::Movie>>(1, movie(std::move(title), {}));
}

inline std::vector<std::string> titles(const MovieList& list) {
  std::vector<std::string> titles;
  for (const api::Movie& movie : *list) titles.push_back(movie.title);
  return titles;
}

// Answers every director with one movie whose title holds the number of the find.
class CountingRepository final : public Repository {
 public:
  MovieList find_by_director(std::string_view last_name) override {
    return list_of(std::string(last_name) + "-" + std::to_string(++finds));
  }
  std::vector<api::Movie> save(std::vector<api::Movie> movies) override {
    ++saves;
    return movies;
  }

  std::atomic<int> finds{0};
  std::atomic<int> saves{0};
};

}  // namespace heddle::movies::test
