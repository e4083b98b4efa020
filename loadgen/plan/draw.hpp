// Random numbers by counter: the n-th draw of a stream is a pure function of (seed, stream, n), so that a
// plan gives the same values whatever the number of threads, and no state is kept per user.
#pragma once

#include <cmath>
#include <cstdint>

namespace heddle::plan {

// The finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
constexpr std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

constexpr std::uint64_t draw(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return scramble(scramble(scramble(seed) ^ stream) ^ index);
}

// In [0, 1), 53 random bits.
constexpr double unit(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

// Exponential with mean 1; at most 53 ln 2 (about 36.7).
inline double exponential(std::uint64_t bits) {
  return -std::log1p(-unit(bits));
}

}  // namespace heddle::plan
