#include "services/movies/memory_repository.hpp"

#include "services/api/call.hpp"
#include "tests/services/movies/support.hpp"

#include <cmath>
#include <set>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::movies {
namespace {

using test::movie;
using test::person;
using test::titles;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Seed, EightFilmsOfThreeDirectors) {
  MemoryRepository repository;
  EXPECT_THAT(titles(repository.find_by_director("Hitchcock")),
              ElementsAre("Rear Window", "Vertigo", "North by Northwest"));
  EXPECT_THAT(titles(repository.find_by_director("Kubrick")),
              ElementsAre("2001: A Space Odyssey",
                          "Dr. Strangelove or: How I Learned to Stop Worrying and Love the Bomb"));
  EXPECT_THAT(titles(repository.find_by_director("Allen")), ElementsAre("Annie Hall", "Manhattan", "Zelig"));
  EXPECT_THAT(seed_movies(), SizeIs(8));
}

// The ancestor's bodies have these sizes: loads are comparable when ours are within 2 % of them.
TEST(Seed, BodiesHaveTheAncestorsSizes) {
  MemoryRepository repository;
  const auto expect_size = [&](std::string_view director, double bytes) {
    const auto body = api::movies_response(*repository.find_by_director(director)).body;
    EXPECT_LE(std::abs(static_cast<double>(body.size()) - bytes), 0.02 * bytes) << director << body.size();
  };
  expect_size("Allen", 1664);
  expect_size("Hitchcock", 1622);
  expect_size("Kubrick", 1235);
}

TEST(Seed, OnlyDirectorsHaveBirthdays) {
  std::set<std::string> born;
  for (const api::Movie& film : seed_movies()) {
    EXPECT_THAT(film.characters, SizeIs(2)) << film.title;
    std::vector<api::Person> people = film.writers;
    people.insert(people.end(), film.directors.begin(), film.directors.end());
    for (const api::Character& character : film.characters) people.push_back(character.actor);
    for (const api::Person& one : people) {
      if (one.birthday) born.insert(one.last_name);
    }
  }
  EXPECT_THAT(born, ElementsAre("Allen", "Hitchcock", "Kubrick"));
}

TEST(Seed, EveryEntityHasAnId) {
  MemoryRepository repository;
  for (const auto director : {"Allen", "Hitchcock", "Kubrick"}) {
    const auto body = api::movies_response(*repository.find_by_director(director)).body;
    EXPECT_EQ(body.find("\"id\":null"), std::string::npos) << body;
  }
}

TEST(MemoryRepository, UnknownNamesFindNothing) {
  MemoryRepository repository;
  EXPECT_THAT(*repository.find_by_director("Nobody"), IsEmpty());
  EXPECT_THAT(*repository.find_by_director("allen"), IsEmpty());
  EXPECT_THAT(*repository.find_by_director(""), IsEmpty());
}

TEST(MemoryRepository, SaveGivesNewIdsAndIsFoundByEveryDirectorOnce) {
  MemoryRepository repository;
  auto twins = movie("Fargo", {person("Coen"), person("Coen"), person("Other")});
  twins.id = 1;  // taken by a seeded film
  const auto saved = repository.save({twins});
  ASSERT_THAT(saved, SizeIs(1));
  EXPECT_EQ(saved[0].id, 9);
  EXPECT_THAT(titles(repository.find_by_director("Coen")), ElementsAre("Fargo"));
  EXPECT_THAT(titles(repository.find_by_director("Other")), ElementsAre("Fargo"));
  EXPECT_THAT(titles(repository.find_by_director("Hitchcock")), SizeIs(3));
}

TEST(MemoryRepository, ThePersonOfAnotherFilmKeepsTheirId) {
  MemoryRepository repository;
  const auto first = repository.save({movie("Fargo", {person("Coen")})});
  const auto second = repository.save({movie("The Big Lebowski", {person("Coen"), person("New")})});
  EXPECT_EQ(first[0].directors[0].id, second[0].directors[0].id);
  EXPECT_NE(second[0].directors[0].id, second[0].directors[1].id);
}

TEST(MemoryRepository, ListsThatReadersHoldDoNotChange) {
  MemoryRepository repository;
  const MovieList before = repository.find_by_director("Allen");
  (void)repository.save({movie("Sleeper", {person("Allen")})});
  EXPECT_THAT(titles(before), SizeIs(3));
  EXPECT_THAT(titles(repository.find_by_director("Allen")),
              ElementsAre("Annie Hall", "Manhattan", "Zelig", "Sleeper"));
}

TEST(MemoryRepository, ReadersAndWritersAtOnce) {
  MemoryRepository repository;
  std::thread writer([&] {
    for (int i = 0; i < 200; ++i) (void)repository.save({movie("M", {person("Allen")})});
  });
  std::size_t last = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::size_t now = repository.find_by_director("Allen")->size();
    ASSERT_GE(now, last) << "a reader saw a list shrink";
    last = now;
  }
  writer.join();
  EXPECT_THAT(*repository.find_by_director("Allen"), SizeIs(203));
}

}  // namespace
}  // namespace heddle::movies
