#!/usr/bin/python3 -IS
"""Obeys the command line of heddle-service, without serving anything but /health and /metrics.

FAKE_SERVICE_<MODEL> or FAKE_SERVICE holds a fault: die-after:SECONDS, mode-off, no-health,
ignore-term, bad-exit, refuse, log-errors, small-pool. FAKE_SERVICE_ACCEPTED is how many connections
of a load it says it accepted, besides those that it really did.
"""

import argparse
import json
import os
import signal
import sys
import threading
import time

KINDS = {"threadpool": "thread", "fibers": "fiber", "reactor": "callback",
         "coroutines": "coroutine"}
APPROACHES = [f"{model}-restinio" for model in KINDS]
FLAGS = ("--approach", "--port", "--cpus", "--congestion-control", "--metrics-csv", "--cache",
         "--pool-threads", "--max-connections", "--client-connections")


def fault_of(model: str) -> str:
    return os.environ.get(f"FAKE_SERVICE_{model.upper()}", os.environ.get("FAKE_SERVICE", ""))


def metrics(approach: str, fault: str) -> str:
    model = approach.split("-")[0]
    kind = "callback" if fault == "mode-off" else KINDS[model]
    started = {name: 100 if name == kind else 0 for name in KINDS.values()}
    lines = [f'heddle_info{{approach="{approach}",version="fake"}} 1']
    for name, count in started.items():
        lines += [f'heddle_tasks_started_total{{kind="{name}"}} {count}',
                  f'heddle_tasks_in_flight_peak{{kind="{name}"}} {count // 10}']
    pool, fiber = model == "threadpool", model == "fibers"
    lines += [f"heddle_tasks_on_io_threads_total {0 if pool else 100}",
              f"heddle_tasks_on_pool_threads_total {100 if pool else 0}",
              f"heddle_tasks_in_fiber_context_total {100 if fiber else 0}"]
    return "\n".join(lines) + "\n"


def serve(options: argparse.Namespace, fault: str) -> int:
    # Here, because it takes longer than all that --print-config has to do.
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    answered: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answered.append(self.path)
            found = {"/health": '{"status":"up"}', "/metrics": metrics(options.approach, fault)}
            body = found.get(self.path, "").encode()
            self.send_response(200 if body else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    stop = threading.Event()
    signal.signal(signal.SIGTERM, (lambda *_: None) if fault == "ignore-term" else
                  (lambda *_: stop.set()))
    if fault == "no-health":
        stop.wait()
        return 0
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    if fault == "log-errors":
        print("an ERROR: one", "all well", "no error here: 0 errors", sep="\n", flush=True)
    if options.metrics_csv:
        with open(options.metrics_csv, "w", encoding="utf-8") as file:
            file.write("epoch_millis,monotonic_nanos\n")
    if fault.startswith("die-after:"):
        time.sleep(float(fault.partition(":")[2]))
        print("fatal: out of luck", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    stop.wait()
    if options.metrics_csv and "FAKE_SERVICE_ACCEPTED" in os.environ:
        accepted = len(answered) + int(os.environ["FAKE_SERVICE_ACCEPTED"])
        with open(options.metrics_csv, "w", encoding="utf-8") as file:
            file.write(f"epoch_millis,monotonic_nanos,connections_accepted\n1,1,{accepted}\n")
    server.shutdown()
    server.server_close()
    return 3 if fault == "bad-exit" else 0


def main() -> int:
    parser = argparse.ArgumentParser()
    for flag in FLAGS:
        parser.add_argument(flag)
    for flag in ("--list-approaches", "--print-config", "--version"):
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    if options.list_approaches:
        print(*APPROACHES, sep="\n")
        return 0
    if options.version:
        print("heddle-service fake")
        return 0
    fault = fault_of(options.approach.split("-")[0])
    if fault == "refuse":
        print("refused: no such luck", file=sys.stderr)
        return 2
    options.port = int(options.port)
    if options.print_config:
        print(json.dumps({"approach": options.approach, "port": options.port,
                          "poolThreads": int(options.pool_threads or 5000),
                          "cache": options.cache or "on"}))
        return 0
    return serve(options, fault)


if __name__ == "__main__":
    sys.exit(main())
