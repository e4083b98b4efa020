#include "services/api/json.hpp"

#include "services/api/writer.hpp"

#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::api {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

// A movie with every field set, and its JSON.
Movie full_movie() {
  const Person person{.id = 3, .first_name = "Woody", .last_name = "Allen", .birthday = 1935y / 11 / 30};
  const Person unknown{.id = 5, .first_name = "Mia", .last_name = "Farrow", .birthday = {}};
  return {.id = 1,
          .title = "Zelig",
          .release_year = 1983,
          .genre = Genre::comedy,
          .characters = {{.id = 2, .actor = person, .name = "Leonard Zelig"},
                         {.id = 4, .actor = unknown, .name = {}}},
          .directors = {person},
          .writers = {person, unknown},
          .awards = {{.id = 6, .name = "Golden Globe", .year = 1984}},
          .rating = 7.8};
}

constexpr std::string_view kFullMovie =
    R"([{"id":1,"title":"Zelig","releaseYear":1983,"genre":"COMEDY","characters":[)"
    R"({"id":2,"actor":{"id":3,"firstName":"Woody","lastName":"Allen","birthday":"1935-11-30"},"name":"Leonard Zelig"},)"
    R"({"id":4,"actor":{"id":5,"firstName":"Mia","lastName":"Farrow","birthday":null},"name":null}],)"
    R"("directors":[{"id":3,"firstName":"Woody","lastName":"Allen","birthday":"1935-11-30"}],)"
    R"("writers":[{"id":3,"firstName":"Woody","lastName":"Allen","birthday":"1935-11-30"},)"
    R"({"id":5,"firstName":"Mia","lastName":"Farrow","birthday":null}],)"
    R"("awards":[{"id":6,"name":"Golden Globe","year":1984}],"rating":7.8}])";

constexpr std::string_view kBareMovie =
    R"([{"id":null,"title":"T","releaseYear":1950,"genre":"DRAMA","characters":[],"directors":[],"writers":[],)"
    R"("awards":[],"rating":null}])";

std::vector<Movie> parsed(std::string_view body) {
  auto outcome = parse_movies(body);
  if (const auto* fault = std::get_if<JsonFault>(&outcome)) {
    ADD_FAILURE() << fault->detail;
    return {};
  }
  return std::get<std::vector<Movie>>(std::move(outcome));
}

std::string fault(std::string_view body) {
  const auto outcome = parse_movies(body);
  const auto* found = std::get_if<JsonFault>(&outcome);
  return found == nullptr ? "accepted" : found->detail;
}

// The fault of a movie that is right but for these members.
std::string fault_with(std::string_view members) {
  return fault(R"([{"title":"T","releaseYear":1950,"genre":"DRAMA"},)"
               R"({"title":"T","releaseYear":1950,"genre":"DRAMA",)" +
               std::string(members) + "}]");
}

TEST(ToJson, GoldenBytes) {
  EXPECT_EQ(to_json(std::vector{full_movie()}), kFullMovie);
}

TEST(ToJson, AbsentValuesAreNullAndEmpty) {
  EXPECT_EQ(to_json(std::vector{Movie{.id = {},
                                      .title = "T",
                                      .release_year = 1950,
                                      .genre = Genre::drama,
                                      .characters = {},
                                      .directors = {},
                                      .writers = {},
                                      .awards = {},
                                      .rating = {}}}),
            kBareMovie);
}

TEST(ToJson, ReadsBackAsItself) {
  EXPECT_EQ(to_json(parsed(kFullMovie)), kFullMovie);
  EXPECT_EQ(to_json(parsed(kBareMovie)), kBareMovie);
}

TEST(Writer, EscapesWhatJsonDemandsAndNothingElse) {
  std::string out;
  append_string(out, std::string_view("\"\\/\b\f\n\r\t\0\x1F\x7F\u00E9", 13));
  EXPECT_EQ(out, "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\x7F\u00E9\"");
}

TEST(Writer, DoublesAreShortAndNeverLookLikeIntegers) {
  const auto text = [](double value) {
    std::string out;
    append_double(out, value);
    return out;
  };
  EXPECT_EQ(text(8), "8.0");
  EXPECT_EQ(text(8.5), "8.5");
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(-0.0), "-0.0");
  EXPECT_EQ(text(1e300), "1e+300");
  EXPECT_EQ(text(-std::numeric_limits<double>::denorm_min()), "-5e-324");
}

TEST(Writer, IntegersOfEverySize) {
  std::string out;
  append_integer(out, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(out, "-9223372036854775808");
}

TEST(ParseMovies, UnknownKeysAreIgnored) {
  const auto movies = parsed(R"([{"title":"T","releaseYear":1950,"genre":"DRAMA","budget":{"usd":[1,2]},)"
                             R"("characters":[{"actor":{"lastName":"Kelly"},"role":"Lisa"}]}])");
  ASSERT_EQ(movies.size(), 1U);
  ASSERT_EQ(movies[0].characters.size(), 1U);
  EXPECT_EQ(movies[0].characters[0].name, std::nullopt);
  EXPECT_EQ(movies[0].characters[0].actor.first_name, "");
}

TEST(ParseMovies, NullIsAbsent) {
  const auto movies = parsed(
      R"([{"id":null,"title":"T","releaseYear":1950,"genre":"DRAMA","characters":null,"directors":null,)"
      R"("writers":null,"awards":null,"rating":null}])");
  EXPECT_EQ(to_json(movies), kBareMovie);
}

TEST(ParseMovies, RatingMayBeAnInteger) {
  EXPECT_EQ(parsed(R"([{"title":"T","releaseYear":1950,"genre":"DRAMA","rating":8}])")[0].rating, 8.0);
}

TEST(ParseMovies, NoMoviesAreFine) {
  EXPECT_THAT(parsed(" [ ] "), IsEmpty());
}

TEST(ParseMovies, BodyThatIsNotJson) {
  EXPECT_THAT(fault(""), HasSubstr("body: found no JSON at byte 0"));
  EXPECT_THAT(fault("[{]"), HasSubstr("body: found no JSON at byte 2"));
  EXPECT_THAT(fault("[{\"title\":\"T\""), HasSubstr("body: found no JSON at byte 13"));
  EXPECT_THAT(fault("[] []"), HasSubstr("body: found no JSON at byte 3"));
  EXPECT_THAT(fault("[\"\xFF\"]"), HasSubstr("body: found no JSON at byte "));
  EXPECT_THAT(fault(std::string(100'000, '[')), HasSubstr("body: found no JSON at byte "));
}

TEST(ParseMovies, BodyOfAnotherShape) {
  EXPECT_EQ(fault("{}"), "body: found an object, accepted is an array of movies");
  EXPECT_EQ(fault("17"), "body: found 17, accepted is an array of movies");
  EXPECT_EQ(fault("null"), "body: found null, accepted is an array of movies");
  EXPECT_EQ(fault("[[]]"), "[0]: found an array, accepted is a movie: an object");
}

TEST(ParseMovies, RequiredFields) {
  EXPECT_EQ(fault(R"([{"releaseYear":1950,"genre":"DRAMA"}])"),
            "[0].title: found nothing, accepted is a text that is not empty");
  EXPECT_EQ(fault(R"([{"title":"","releaseYear":1950,"genre":"DRAMA"}])"),
            R"([0].title: found "", accepted is a text that is not empty)");
  EXPECT_EQ(fault(R"([{"title":null,"releaseYear":1950,"genre":"DRAMA"}])"),
            "[0].title: found nothing, accepted is a text that is not empty");
  EXPECT_EQ(fault(R"([{"title":7,"releaseYear":1950,"genre":"DRAMA"}])"),
            "[0].title: found 7, accepted is a text");
  EXPECT_EQ(fault(R"([{"title":"T","genre":"DRAMA"}])"),
            "[0].releaseYear: found nothing, accepted is an integer from 1 to 9999");
  EXPECT_EQ(fault(R"([{"title":"T","releaseYear":"1950","genre":"DRAMA"}])"),
            R"([0].releaseYear: found "1950", accepted is an integer from 1 to 9999)");
  EXPECT_EQ(fault(R"([{"title":"T","releaseYear":10000,"genre":"DRAMA"}])"),
            "[0].releaseYear: found 10000, accepted is an integer from 1 to 9999");
  EXPECT_EQ(fault(R"([{"title":"T","releaseYear":1950}])"),
            "[0].genre: found nothing, accepted is one of ROMANCE, DRAMA, COMEDY, ACTION, MYSTERY, "
            "SCIENCE_FICTION");
  EXPECT_EQ(
      fault(R"([{"title":"T","releaseYear":1950,"genre":"drama"}])"),
      R"([0].genre: found "drama", accepted is one of ROMANCE, DRAMA, COMEDY, ACTION, MYSTERY, SCIENCE_FICTION)");
}

TEST(ParseMovies, EveryGenreNameIsAccepted) {
  for (const auto name : kGenreNames) {
    const auto movies = parsed(R"([{"title":"T","releaseYear":1950,"genre":")" + std::string(name) + "\"}]");
    EXPECT_THAT(to_json(movies), HasSubstr("\"genre\":\"" + std::string(name) + "\""));
  }
}

TEST(ParseMovies, OptionalFieldsOfAnotherType) {
  EXPECT_EQ(fault_with(R"("rating":"high")"), R"([1].rating: found "high", accepted is null or a number)");
  EXPECT_EQ(fault_with(R"("id":-1)"),
            "[1].id: found -1, accepted is null or an integer from 0 to 9223372036854775807");
  EXPECT_EQ(fault_with(R"("awards":{})"), "[1].awards: found an object, accepted is an array");
  EXPECT_EQ(fault_with(R"("awards":[{"name":"Oscar","year":true}])"),
            "[1].awards[0].year: found true, accepted is an integer from 1 to 9999");
  EXPECT_EQ(fault_with(R"("awards":[{"year":1950}])"),
            "[1].awards[0].name: found nothing, accepted is a text that is not empty");
  EXPECT_EQ(fault_with(R"("writers":[3])"), "[1].writers[0]: found 3, accepted is a person: an object");
  EXPECT_EQ(fault_with(R"("directors":[{"firstName":"A"}])"),
            "[1].directors[0].lastName: found nothing, accepted is a text that is not empty");
  EXPECT_EQ(fault_with(R"("characters":[{"name":"Lisa"}])"),
            "[1].characters[0].actor: found nothing, accepted is a person: an object");
  EXPECT_EQ(fault_with(R"("characters":[{"actor":{"lastName":"Kelly"},"name":["Lisa"]}])"),
            "[1].characters[0].name: found an array, accepted is a text");
}

TEST(ParseMovies, BirthdaysAreDaysThatExist) {
  const auto with = [](const std::string& date) {
    return fault_with(R"("writers":[{"lastName":"A"},{"lastName":"B","birthday":)" + date + "}]");
  };
  EXPECT_EQ(with("\"2000-02-29\""), "accepted");
  EXPECT_EQ(with("null"), "accepted");
  for (const std::string date : {"1900-02-29", "1900-13-01", "1900-01-00", "0000-01-01", "1900-1-1",
                                 "1900/01/01", "1900-01-011", "19a0-01-01", "-900-01-01", ""}) {
    EXPECT_EQ(with("\"" + date + "\""),
              "[1].writers[1].birthday: found \"" + date + "\", accepted is null or a date as YYYY-MM-DD");
  }
  EXPECT_EQ(with("17"), "[1].writers[1].birthday: found 17, accepted is null or a date as YYYY-MM-DD");
}

}  // namespace
}  // namespace heddle::api
