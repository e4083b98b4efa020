#include "services/movies/memory_repository.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <tuple>

namespace heddle::movies {
namespace {

const MovieList& no_movies() {
  static const MovieList kNone = std::make_shared<const std::vector<api::Movie>>();
  return kNone;
}

}  // namespace

MemoryRepository::MemoryRepository() {
  (void)save(seed_movies());
}

MovieList MemoryRepository::find_by_director(std::string_view last_name) {
  const std::shared_lock lock(mutex_);
  const auto found = by_director_.find(last_name);
  return found == by_director_.end() ? no_movies() : found->second;
}

std::vector<api::Movie> MemoryRepository::save(std::vector<api::Movie> movies) {
  const std::unique_lock lock(mutex_);
  for (api::Movie& movie : movies) {
    assign_ids(movie);
    index(movie);
  }
  return movies;
}

// The same person has one id: as actor, director and writer, and in every film.
void MemoryRepository::assign_id(api::Person& person) {
  const std::tuple identity(person.first_name, person.last_name, person.birthday);
  const auto [known, inserted] = person_ids_.try_emplace(identity, next_person_id_);
  if (inserted) ++next_person_id_;
  person.id = known->second;
}

void MemoryRepository::assign_ids(api::Movie& movie) {
  movie.id = next_movie_id_++;
  for (api::Character& character : movie.characters) {
    character.id = next_character_id_++;
    assign_id(character.actor);
  }
  for (api::Person& director : movie.directors) assign_id(director);
  for (api::Person& writer : movie.writers) assign_id(writer);
  for (api::Award& award : movie.awards) award.id = next_award_id_++;
}

// Lists are immutable, since readers hold them: a new one replaces the old.
void MemoryRepository::index(const api::Movie& movie) {
  std::vector<std::string_view> names;
  for (const api::Person& director : movie.directors) names.push_back(director.last_name);
  std::ranges::sort(names);
  const auto repeats = std::ranges::unique(names);
  names.erase(repeats.begin(), repeats.end());
  for (const std::string_view name : names) {
    MovieList& list = by_director_[std::string(name)];
    auto longer =
        list ? std::make_shared<std::vector<api::Movie>>(*list) : std::make_shared<std::vector<api::Movie>>();
    longer->push_back(movie);
    list = std::move(longer);
  }
}

}  // namespace heddle::movies
