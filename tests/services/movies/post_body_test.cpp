// scenarios/movies.json is what the load posts: the eight films of the seed, with more birthdays.
#include "services/api/json.hpp"
#include "services/movies/memory_repository.hpp"

#include <fstream>
#include <sstream>
#include <string>

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::movies {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Le;

std::string file_text() {
  std::ifstream file(HEDDLE_MOVIES_JSON);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<api::Movie> parsed(const std::string& body) {
  auto outcome = api::parse_movies(body);
  if (const auto* fault = std::get_if<api::JsonFault>(&outcome)) {
    ADD_FAILURE() << fault->detail;
    return {};
  }
  return std::get<std::vector<api::Movie>>(std::move(outcome));
}

TEST(PostBody, HasTheAncestorsSize) {
  const std::string text = file_text();
  EXPECT_THAT(text.size(), AllOf(Ge(6870U), Le(7150U))) << "7,010 bytes, within 2 %";
  EXPECT_THAT(boost::json::serialize(boost::json::parse(text)).size(), AllOf(Ge(4000U), Le(4200U)));
}

TEST(PostBody, HoldsTheFilmsOfTheSeed) {
  const auto posted = parsed(file_text());
  const auto seeded = seed_movies();
  ASSERT_EQ(posted.size(), seeded.size());
  for (std::size_t i = 0; i < seeded.size(); ++i) {
    EXPECT_EQ(posted[i].title, seeded[i].title);
    EXPECT_EQ(posted[i].release_year, seeded[i].release_year);
    EXPECT_EQ(posted[i].genre, seeded[i].genre);
    EXPECT_EQ(posted[i].rating, seeded[i].rating);
    EXPECT_EQ(posted[i].awards.size(), seeded[i].awards.size());
    EXPECT_EQ(posted[i].directors.at(0).last_name, seeded[i].directors.at(0).last_name);
  }
}

TEST(PostBody, AllActorsHaveBirthdaysAndOneCharacterHasARole) {
  int without_name = 0;
  for (const api::Movie& movie : parsed(file_text())) {
    for (const api::Character& character : movie.characters) {
      EXPECT_TRUE(character.actor.birthday) << character.actor.last_name;
      if (!character.name) ++without_name;
    }
  }
  EXPECT_EQ(without_name, 1);
  EXPECT_NE(file_text().find("\"role\""), std::string::npos);
}

TEST(PostBody, TheEchoIsTheSameEveryTime) {
  const std::string echo = api::to_json(parsed(file_text()));
  EXPECT_EQ(api::to_json(parsed(echo)), echo);
}

}  // namespace
}  // namespace heddle::movies
