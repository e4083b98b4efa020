#include "services/upstream/callback_client.hpp"

#include "services/upstream/response_reader.hpp"

#include <memory>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

namespace heddle::upstream {

// One GET from the pool to its answer. Kept alive by the handler that it waits for.
class CallbackClient::Operation : public std::enable_shared_from_this<Operation> {
 public:
  Operation(CallbackClient& client, const std::string& target, Done done)
      : client_(client), request_(get_request(target, client.options_.host)), done_(std::move(done)) {}

  void start() {
    client_.pool_.acquire(
        [self = shared_from_this()](AsyncPool::Acquired got) { self->on_connection(std::move(got)); });
  }

 private:
  using Error = boost::system::error_code;

  void on_connection(AsyncPool::Acquired got) {
    if (got.failure == Failure::pool_full) return done_(pool_full(client_.options_));
    if (got.failure == Failure::pool_timeout) return done_(pool_timeout(client_.options_));
    connection_ = std::move(got.connection);
    reused_ = got.reused;
    if (reused_) return write();
    connect();
  }

  void connect() {
    client_.counters_.connects.fetch_add(1, std::memory_order_relaxed);
    Error error;
    connection_->open(error);
    if (error) return on_connect(error);
    connection_->expires_after(client_.options_.socket.connect_timeout);
    connection_->socket().async_connect(
        client_.options_.socket.peer,
        [self = shared_from_this()](Error failed) { self->on_connect(failed); });
  }

  void on_connect(Error error) {
    if (!error) return write();
    error = connection_->explain(error);
    client_.pool_.discard(std::move(connection_));
    done_(connect_failure(error, client_.options_));
  }

  void write() {
    reader_ = std::make_unique<ResponseReader>();
    connection_->expires_after(client_.options_.socket.response_timeout);
    Error failed;
    const auto bytes = boost::asio::buffer(request_);
    const std::size_t written = connection_->write_now(bytes, failed);
    if (failed) return on_end(failed);
    if (written == request_.size()) return read();
    boost::asio::async_write(connection_->socket(), bytes + written,
                             [self = shared_from_this()](Error error, std::size_t) {
                               if (error) return self->on_end(error);
                               self->read();
                             });
  }

  void read() {
    connection_->socket().async_read_some(reader_->space(),
                                          [self = shared_from_this()](Error error, std::size_t bytes) {
                                            if (!self->reader_->on_read(bytes, error)) return self->read();
                                            self->on_end(error);
                                          });
  }

  void on_end(Error error) {
    error = connection_->explain(error);
    const bool stale = error && reused_ && !reader_->started() && error != boost::asio::error::timed_out;
    if (!error && reader_->reusable()) {
      client_.pool_.release(std::move(connection_));
    } else {
      client_.pool_.discard(std::move(connection_));
    }
    if (!error) return done_(reader_->take());
    if (stale) {
      // Posted: a pool full of stale connections must not become as many frames on the stack.
      boost::asio::post(client_.executor_, [self = shared_from_this()] { self->start(); });
      return;
    }
    done_(exchange_failure(error, client_.options_));
  }

  CallbackClient& client_;
  std::string request_;
  Done done_;
  AsyncPool::Handle connection_;
  bool reused_ = false;
  std::unique_ptr<ResponseReader> reader_;
};

void CallbackClient::get(const std::string& target, Done done) {
  std::make_shared<Operation>(*this, target, std::move(done))->start();
}

}  // namespace heddle::upstream
