# frozen_string_literal: true

# Adds a header with the id of the process to each response. The application is complete when it is made, and it drops
# BENCH_BOOT_GARBAGE objects then, and keeps one of fifty, so that few pages are empty: a boot leaves as many, and
# workers should not weigh more for it.
class WorkerField
  NAME = "x-worker"

  def initialize(app)
    @app = app
    objects = Array.new(Integer(ENV.fetch("BENCH_BOOT_GARBAGE", "200000"), 10)) { |n| "object number #{n} of the boot" }
    @kept = objects.each_slice(50).map(&:first)
  end

  def call(env)
    status, headers, body = @app.call(env)
    headers[NAME] = Process.pid.to_s
    [status, headers, body]
  end
end
