// What the service serves: movies and the people, characters and awards that belong to them. Plain values.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::api {

enum class Genre { romance, drama, comedy, action, mystery, science_fiction };

// The names on the wire, in the order of the enumeration.
inline constexpr std::array<std::string_view, 6> kGenreNames{"ROMANCE", "DRAMA",   "COMEDY",
                                                             "ACTION",  "MYSTERY", "SCIENCE_FICTION"};

// An id is empty until a repository has saved the entity: null in JSON. It is outside of identity: entities
// are the same when everything but their ids is equal.
using Id = std::optional<std::int64_t>;

struct Person {
  Id id;
  std::string first_name;
  std::string last_name;
  std::optional<std::chrono::year_month_day> birthday;  // empty: unknown, null in JSON
};

struct Character {
  Id id;
  Person actor;
  std::optional<std::string> name;  // empty where a client sent none, null in JSON
};

struct Award {
  Id id;
  std::string name;
  int year = 0;
};

struct Movie {
  Id id;
  std::string title;
  int release_year = 0;
  Genre genre = Genre::drama;
  std::vector<Character> characters;
  std::vector<Person> directors;
  std::vector<Person> writers;
  std::vector<Award> awards;
  std::optional<double> rating;  // empty: not rated, null in JSON
};

}  // namespace heddle::api
