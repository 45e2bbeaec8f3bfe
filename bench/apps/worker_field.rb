# frozen_string_literal: true

# Adds a header with the id of the process to each response. The application is complete when it is made, and it drops
# BENCH_BOOT_GARBAGE objects then: a boot leaves as many, and workers should not weigh more for it. GET /litter?300000
# drops as many in a request.
class WorkerField
  NAME = "x-worker"
  LITTER = "/litter"

  def initialize(app)
    @app = app
    @kept = litter(Integer(ENV.fetch("BENCH_BOOT_GARBAGE", "200000"), 10))
  end

  def call(env)
    status, headers, body = env["PATH_INFO"] == LITTER ? littered(env) : @app.call(env)
    headers[NAME] = Process.pid.to_s
    [status, headers, body]
  end

  private

  # Drops this many objects, and returns one of fifty, so that few pages are empty.
  def litter(count)
    Array.new(count) { |n| "object number #{n} of many" }.each_slice(50).map(&:first)
  end

  def littered(env)
    @kept += litter(Integer(env["QUERY_STRING"], 10))
    [200, { "content-type" => "text/plain" }, ["#{@kept.size} kept\n"]]
  end
end
