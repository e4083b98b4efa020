// An HTTP server in the test that misbehaves as it is told.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace heddle::testing {

// One request as the server saw it.
struct Seen {
  int connection = 0;  // from 0, in the order of accepting
  int number = 0;      // on this connection, from 0
  std::string head;
  std::string body;
  int reads = 0;           // in how many pieces it came
  std::size_t behind = 0;  // bytes that had come with it, but belong to the next one
};

class FakeServer {
 public:
  enum class Then { keep, close, reset };
  class Peer {
   public:
    Peer(int fd, const std::atomic<bool>& stopping) : fd_{fd}, stopping_{stopping} {}
    // Each call is a segment of its own. False when the client has gone.
    bool write(std::string_view bytes) const;
    // Cut at `at`: what stands behind it comes a moment later, so that the client reads twice.
    void write_split(std::string_view bytes, std::size_t at) const;
    // Ends early when the server stops.
    void pause(std::chrono::milliseconds time) const;
    // Until the server stops: never answers.
    void hang() const { pause(std::chrono::hours{1}); }
    [[nodiscard]] bool stopping() const { return stopping_.load(); }

   private:
    int fd_;
    const std::atomic<bool>& stopping_;
  };
  using Behaviour = std::function<Then(const Peer&, const Seen&)>;

  // Listens on a port of 127.0.0.1, a free one for 0; a thread per connection.
  explicit FakeServer(Behaviour behaviour, int port = 0);
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url(const std::string& path = "/") const;
  [[nodiscard]] int accepted() const { return accepted_.load(); }
  [[nodiscard]] std::vector<Seen> seen() const;
  // Source addresses of the connections.
  [[nodiscard]] std::vector<std::string> peers() const;

 private:
  void accept_all();
  void serve(int fd, int connection);

  Behaviour behaviour_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<int> accepted_{0};
  mutable std::mutex mutex_;
  std::vector<Seen> seen_;
  std::vector<std::string> peers_;
  std::vector<int> open_;
  std::vector<std::thread> sessions_;
  std::thread acceptor_;
};

// A whole answer with the body "hello".
inline const std::string kHello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

// Listens, but its queue of waiting connections is full: whoever connects waits for an answer to the SYN.
class FullServer {
 public:
  FullServer();
  ~FullServer();
  FullServer(const FullServer&) = delete;
  FullServer& operator=(const FullServer&) = delete;
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  int port_ = 0;
  std::vector<int> sockets_;
};

// Behaviour of a server that answers everything.
inline FakeServer::Then hello(const FakeServer::Peer& peer, const Seen&) {
  peer.write(kHello);
  return FakeServer::Then::keep;
}

// A port of 127.0.0.1 on which nobody listens.
[[nodiscard]] int closed_port();

}  // namespace heddle::testing
