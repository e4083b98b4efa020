// Movies to JSON and back. Pure functions: they neither block nor suspend.
#pragma once

#include "services/api/movie.hpp"

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heddle::api {

// A compact JSON array, the keys always in the same order, every entity with its id. UTF-8 as it came in.
[[nodiscard]] std::string to_json(std::span<const Movie> movies);

// Why a body was refused: where, what stands there, what is accepted. "movies[2].genre: found \"WESTERN\",
// ..."
struct JsonFault {
  std::string detail;
};

// Parses and validates the body of a POST: an array of movies. title, releaseYear and genre are required,
// null counts as absent, keys that a movie does not have are ignored.
[[nodiscard]] std::variant<std::vector<Movie>, JsonFault> parse_movies(std::string_view body);

}  // namespace heddle::api
