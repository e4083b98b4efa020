// The default of the service: load can be posted for hours and nothing grows.
#pragma once

#include "services/movies/repository.hpp"

namespace heddle::movies {

// Finds in `target`; save gives its input back unchanged and stores nothing.
class ReadOnlyRepository final : public Repository {
 public:
  explicit ReadOnlyRepository(Repository& target) : target_(target) {}

  [[nodiscard]] MovieList find_by_director(std::string_view last_name) override {
    return target_.find_by_director(last_name);
  }

  [[nodiscard]] std::vector<api::Movie> save(std::vector<api::Movie> movies) override { return movies; }

 private:
  Repository& target_;
};

}  // namespace heddle::movies
