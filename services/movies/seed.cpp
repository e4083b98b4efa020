// Eight films by three directors, two characters each: titles, writers and awards as the ancestor has them.
#include "services/movies/memory_repository.hpp"

#include <utility>

namespace heddle::movies {
namespace {

using api::Award;
using api::Character;
using api::Genre;
using api::Movie;
using api::Person;

Person person(std::string first_name, std::string last_name) {
  return {.id = {}, .first_name = std::move(first_name), .last_name = std::move(last_name), .birthday = {}};
}

Person born(Person person, int year, unsigned month, unsigned day) {
  person.birthday = std::chrono::year{year} / std::chrono::month{month} / std::chrono::day{day};
  return person;
}

Character role(Person actor, std::string name) {
  return {.id = {}, .actor = std::move(actor), .name = std::move(name)};
}

Award award(std::string name, int year) {
  return {.id = {}, .name = std::move(name), .year = year};
}

std::vector<Movie> hitchcock() {
  const Person director = born(person("Alfred", "Hitchcock"), 1899, 8, 13);
  const Person stewart = person("James", "Stewart");
  return {{.id = {},
           .title = "Rear Window",
           .release_year = 1954,
           .genre = Genre::mystery,
           .characters = {role(stewart, "L.B. Jefferies"), role(person("Grace", "Kelly"), "Lisa Fremont")},
           .directors = {director},
           .writers = {person("Joseph", "Stefano")},
           .awards = {award("Golden Globe", 1955)},
           .rating = 8.5},
          {.id = {},
           .title = "Vertigo",
           .release_year = 1958,
           .genre = Genre::mystery,
           .characters = {role(stewart, "John Ferguson"), role(person("Kim", "Novak"), "Madeleine Elster")},
           .directors = {director},
           .writers = {person("Alec", "Coppel")},
           .awards = {award("National Film Registry", 1989)},
           .rating = 8.3},
          {.id = {},
           .title = "North by Northwest",
           .release_year = 1959,
           .genre = Genre::action,
           .characters = {role(person("Cary", "Grant"), "Roger Thornhill"),
                          role(person("Eva Marie", "Saint"), "Eve Kendall")},
           .directors = {director},
           .writers = {person("Ernest", "Lehman")},
           .awards = {award("Academy Award", 1960)},
           .rating = 8.4}};
}

std::vector<Movie> kubrick() {
  const Person director = born(person("Stanley", "Kubrick"), 1928, 7, 26);
  return {{.id = {},
           .title = "2001: A Space Odyssey",
           .release_year = 1968,
           .genre = Genre::science_fiction,
           .characters = {role(person("Keir", "Dullea"), "Dr. David Bowman"),
                          role(person("Gary", "Lockwood"), "Dr. Frank Poole")},
           .directors = {director},
           .writers = {director},
           .awards = {award("Academy Award", 1969)},
           .rating = 8.7},
          {.id = {},
           .title = "Dr. Strangelove or: How I Learned to Stop Worrying and Love the Bomb",
           .release_year = 1964,
           .genre = Genre::comedy,
           .characters = {role(person("Peter", "Sellers"),
                               "Group Captain Lionel Mandrake / President Merkin Muffley / Dr. Strangelove"),
                          role(person("George C.", "Scott"), "General Buck Turgidson")},
           .directors = {director},
           .writers = {director},
           .awards = {award("BAFTA", 1965)},
           .rating = 8.4}};
}

std::vector<Movie> allen() {
  const Person director = born(person("Woody", "Allen"), 1935, 11, 30);
  const Person keaton = person("Diane", "Keaton");
  return {{.id = {},
           .title = "Annie Hall",
           .release_year = 1977,
           .genre = Genre::romance,
           .characters = {role(director, "Alvy Singer"), role(keaton, "Annie Hall")},
           .directors = {director},
           .writers = {director},
           .awards = {award("Academy Award", 1978), award("Golden Globe", 1978)},
           .rating = 8.0},
          {.id = {},
           .title = "Manhattan",
           .release_year = 1979,
           .genre = Genre::drama,
           .characters = {role(director, "Isaac Davis"), role(keaton, "Mary Wilkie")},
           .directors = {director},
           .writers = {director},
           .awards = {award("BAFTA", 1980)},
           .rating = 7.9},
          {.id = {},
           .title = "Zelig",
           .release_year = 1983,
           .genre = Genre::comedy,
           .characters = {role(director, "Leonard Zelig"), role(person("Mia", "Farrow"), "Eudora Fletcher")},
           .directors = {director},
           .writers = {director},
           .awards = {award("Golden Globe", 1984)},
           .rating = 7.8}};
}

}  // namespace

std::vector<Movie> seed_movies() {
  std::vector<Movie> movies;
  for (auto&& part : {hitchcock(), kubrick(), allen()}) movies.insert(movies.end(), part.begin(), part.end());
  return movies;
}

}  // namespace heddle::movies
