#include "services/models/callback_style.hpp"

#include <exception>
#include <memory>
#include <utility>
#include <variant>

namespace heddle::models {

namespace {

// One request from its call to its answer. Kept alive by the handler that it waits for.
class Serving : public std::enable_shared_from_this<Serving> {
 public:
  Serving(CallbackRuntime& runtime, const Application& application, api::Call call,
          std::function<void(api::Response)> done)
      : runtime_(runtime),
        application_(application),
        call_(std::move(call)),
        done_(std::move(done)),
        timer_(runtime.executor) {}

  void start() {
    if (call_.depth > 0) {
      runtime_.client.get(api::nested_target(call_, application_.approach),
                          [self = shared_from_this()](upstream::Reply reply) { self->on_reply(reply); });
    } else if (call_.delay.count() > 0) {
      timer_.expires_after(call_.delay);
      timer_.async_wait([self = shared_from_this()](const boost::system::error_code&) { self->finish(); });
    } else {
      finish();
    }
  }

 private:
  void on_reply(const upstream::Reply& reply) {
    if (!reply.ok()) return done_(upstream_problem(reply));
    finish();
  }

  void finish() {
    api::Response response;
    try {
      response = answer(call_, application_);
    } catch (const std::exception& error) {
      response = internal_problem(error.what());
    }
    done_(std::move(response));
  }

  CallbackRuntime& runtime_;
  const Application& application_;
  api::Call call_;
  std::function<void(api::Response)> done_;
  waiting::LoopTimer timer_;
};

}  // namespace

void serve_callbacks(CallbackRuntime& runtime, const api::Request& request, const Application& application,
                     std::function<void(api::Response)> done) {
  std::shared_ptr<Serving> serving;
  api::Response refusal;
  try {
    auto parsed = api::parse_call(request, application.approach);
    if (auto* fault = std::get_if<api::Response>(&parsed)) {
      refusal = std::move(*fault);
    } else {
      serving = std::make_shared<Serving>(runtime, application, std::get<api::Call>(std::move(parsed)), done);
    }
  } catch (const std::exception& error) {
    refusal = internal_problem(error.what());
  }
  // Outside the try: `done` must not be called a second time because its first call threw.
  if (serving) return serving->start();
  done(std::move(refusal));
}

}  // namespace heddle::models
