#include "services/movies/cached_repository.hpp"
#include "services/movies/movie_cache.hpp"
#include "services/movies/stack.hpp"
#include "tests/services/movies/support.hpp"

#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::movies {
namespace {

using namespace std::chrono_literals;
using test::list_of;
using test::movie;
using test::person;
using test::titles;
using testing::ElementsAre;
using testing::IsNull;

class CacheTest : public testing::Test {
 protected:
  // Finds `name`; what is missing is put there as a list with the title `loaded`.
  std::string read_through(MovieCache& cache, const std::string& name, const std::string& loaded) const {
    const auto lookup = cache.find(name);
    if (lookup.movies) return titles(lookup.movies).front();
    cache.put(name, list_of(loaded), lookup.generation);
    return "missed";
  }

  std::chrono::steady_clock::time_point now_{};
  CacheClock clock_ = [this] { return now_; };
};

TEST_F(CacheTest, KeepsWhatWasPut) {
  MovieCache cache({}, clock_);
  EXPECT_EQ(read_through(cache, "Allen", "first"), "missed");
  EXPECT_EQ(read_through(cache, "Allen", "second"), "first");
  EXPECT_EQ(read_through(cache, "Kubrick", "third"), "missed");
  EXPECT_EQ(cache.hits(), 1U);
  EXPECT_EQ(cache.misses(), 2U);
  EXPECT_EQ(cache.size(), 2U);
}

TEST_F(CacheTest, ExpiresOneHourAfterTheWriteHoweverOftenItIsRead) {
  MovieCache cache({}, clock_);
  read_through(cache, "Allen", "first");
  now_ += 59min;
  EXPECT_EQ(read_through(cache, "Allen", "second"), "first");
  now_ += 1min - 1ns;
  EXPECT_EQ(read_through(cache, "Allen", "second"), "first");
  now_ += 1ns;
  EXPECT_EQ(read_through(cache, "Allen", "second"), "missed");
  now_ += 59min;
  EXPECT_EQ(read_through(cache, "Allen", "third"), "second") << "a new write starts a new hour";
}

TEST_F(CacheTest, EvictsOneDirectorOnly) {
  MovieCache cache({}, clock_);
  read_through(cache, "Allen", "a");
  read_through(cache, "Kubrick", "k");
  cache.evict("Allen");
  cache.evict("Nobody");
  EXPECT_EQ(read_through(cache, "Kubrick", "x"), "k");
  EXPECT_EQ(read_through(cache, "Allen", "x"), "missed");
}

TEST_F(CacheTest, WhatWasLoadedBeforeAnEvictionIsNotKept) {
  MovieCache cache({}, clock_);
  const auto lookup = cache.find("Allen");
  cache.evict("Allen");
  cache.put("Allen", list_of("stale"), lookup.generation);
  EXPECT_THAT(cache.find("Allen").movies, IsNull());
}

TEST_F(CacheTest, RandomNamesCannotFillTheMemory) {
  MovieCache cache({.expire_after_write = 1h, .max_keys = 160, .max_key_bytes = 256}, clock_);
  for (int i = 0; i < 10'000; ++i) read_through(cache, "name" + std::to_string(i), "x");
  EXPECT_LE(cache.size(), 160U);
  EXPECT_GT(cache.size(), 100U) << "the places should be used";
  EXPECT_EQ(read_through(cache, "name9999", "y"), "x") << "the newest stays";
  EXPECT_EQ(read_through(cache, "name0", "y"), "missed") << "the oldest goes";
}

TEST_F(CacheTest, ANameThatIsWrittenAgainTakesOnePlace) {
  MovieCache cache({.expire_after_write = 1h, .max_keys = 16, .max_key_bytes = 256}, clock_);
  for (int i = 0; i < 1000; ++i) {
    read_through(cache, "Allen", "x");
    if (i % 2 == 0) cache.evict("Allen");
    const auto lookup = cache.find("Allen");
    cache.put("Allen", list_of("y"), lookup.generation);
  }
  EXPECT_EQ(cache.size(), 1U);
}

TEST_F(CacheTest, LongNamesAreNotKept) {
  MovieCache cache({}, clock_);
  EXPECT_EQ(read_through(cache, std::string(256, 'a'), "x"), "missed");
  EXPECT_EQ(read_through(cache, std::string(257, 'a'), "x"), "missed");
  EXPECT_EQ(cache.size(), 1U);
}

TEST_F(CacheTest, ExpiredEntriesMakeRoomForNewOnes) {
  MovieCache cache({}, clock_);
  for (int i = 0; i < 1000; ++i) read_through(cache, "old" + std::to_string(i), "x");
  now_ += 2h;
  for (int i = 0; i < 1000; ++i) read_through(cache, "new" + std::to_string(i), "x");
  EXPECT_EQ(cache.size(), 1000U);
}

TEST(CachedRepository, ReadsThroughAndEvictsOnSave) {
  test::CountingRepository target;
  MovieCache cache;
  CachedRepository repository(target, cache);
  EXPECT_THAT(titles(repository.find_by_director("Allen")), ElementsAre("Allen-1"));
  EXPECT_THAT(titles(repository.find_by_director("Allen")), ElementsAre("Allen-1"));
  EXPECT_THAT(titles(repository.find_by_director("Kubrick")), ElementsAre("Kubrick-2"));
  (void)repository.save({movie("New", {person("Other"), person("Allen")})});
  EXPECT_EQ(target.saves, 1);
  EXPECT_THAT(titles(repository.find_by_director("Allen")), ElementsAre("Allen-3"));
  EXPECT_THAT(titles(repository.find_by_director("Kubrick")), ElementsAre("Kubrick-2"));
  EXPECT_EQ(cache.hits(), 2U);
  EXPECT_EQ(cache.misses(), 3U);
}

TEST(CachedRepository, ManyThreadsLoseNoCount) {
  test::CountingRepository target;
  MovieCache cache;
  CachedRepository repository(target, cache);
  constexpr int kThreads = 8;
  constexpr int kFinds = 5000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kFinds; ++i) {
        const std::string name = "director" + std::to_string(i % 50);
        const auto found = titles(repository.find_by_director(name)).front();
        if (!found.starts_with(name + "-")) ADD_FAILURE() << name << " found " << found;
        if (t == 0 && i % 100 == 0) (void)repository.save({movie("M", {person(name)})});
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(cache.hits() + cache.misses(), static_cast<std::uint64_t>(kThreads * kFinds));
  EXPECT_EQ(cache.misses(), static_cast<std::uint64_t>(target.finds));
}

TEST(Stack, ReadOnlyEchoesAndEvictsNothing) {
  RepositoryStack stack;
  Repository& repository = stack.repository();
  (void)repository.find_by_director("Allen");
  auto posted = movie("Sleeper", {person("Allen")});
  posted.id = 77;
  const auto echoed = repository.save({posted});
  EXPECT_EQ(echoed.at(0).id, 77);
  EXPECT_EQ(echoed.at(0).directors.at(0).id, std::nullopt);
  EXPECT_THAT(titles(repository.find_by_director("Allen")), ElementsAre("Annie Hall", "Manhattan", "Zelig"));
  ASSERT_NE(stack.cache(), nullptr);
  EXPECT_EQ(stack.cache()->hits(), 1U);
  EXPECT_EQ(stack.cache()->misses(), 1U);
}

TEST(Stack, WritableStackFindsWhatWasSaved) {
  for (const bool cache : {true, false}) {
    RepositoryStack stack({.cache = cache, .read_only = false});
    Repository& repository = stack.repository();
    (void)repository.find_by_director("Allen");
    (void)repository.save({movie("Sleeper", {person("Allen")})});
    EXPECT_THAT(titles(repository.find_by_director("Allen")),
                ElementsAre("Annie Hall", "Manhattan", "Zelig", "Sleeper"));
    EXPECT_EQ(stack.cache() != nullptr, cache);
  }
}

}  // namespace
}  // namespace heddle::movies
