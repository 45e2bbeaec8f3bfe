# frozen_string_literal: true

# GET /sleep waits 0.1 s, GET /sleep?5 five seconds; the response says from when to when, by the monotonic clock.
TIMES = "%017.6f %017.6f"
SECONDS = 0.1

run(lambda do |env|
  return [200, { "content-type" => "text/plain" }, ["Hello, World!"]] unless env["PATH_INFO"] == "/sleep"

  query = env["QUERY_STRING"].to_s
  begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  sleep(query.empty? ? SECONDS : Float(query))
  [200, { "content-type" => "text/plain" }, [format(TIMES, begun, Process.clock_gettime(Process::CLOCK_MONOTONIC))]]
end)
