// Where movies come from. The repositories of this folder live in memory: no function here blocks beyond a
// short lock or suspends a task, so every model may call them straight from an I/O thread.
#pragma once

#include "services/api/movie.hpp"

#include <memory>
#include <string_view>
#include <vector>

namespace heddle::movies {

// Shared and immutable: valid for as long as the caller holds it, whatever is saved or evicted meanwhile.
using MovieList = std::shared_ptr<const std::vector<api::Movie>>;

// All functions may be called from any thread at the same time.
class Repository {
 public:
  virtual ~Repository() = default;

  // The movies that a director of this last name (exact, case matters) has made, in the order they were
  // saved. Never null; empty when there are none.
  [[nodiscard]] virtual MovieList find_by_director(std::string_view last_name) = 0;

  // Stores the movies and gives them back with their ids.
  [[nodiscard]] virtual std::vector<api::Movie> save(std::vector<api::Movie> movies) = 0;
};

}  // namespace heddle::movies
