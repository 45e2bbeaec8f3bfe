# frozen_string_literal: true

require "test_helper"

# What a worker gives back when it rests.
class IdleWorkerTest < Support::IntegrationTest
  # Collects garbage, and leaves 60 MB of it behind unless the collector happens to run.
  APP = <<~RUBY
    run(lambda do |_env|
      GC.start
      GC.disable
      Array.new(6000) { "x" * 10_000 }.clear
      GC.enable
      [200, {}, []]
    end)
  RUBY

  def test_worker_that_rests_returns_its_free_memory
    server = server(app: APP, workers: 1, args: %w[--refork off]).start
    worker = server.workers.fetch(1)
    server.get
    held = private_bytes(worker)

    assert_operator held, :>, 20_000_000
    eventually(message: "less memory") { private_bytes(worker) < held / 2 }
    assert_equal({ 1 => worker }, server.workers)
  end

  private

  def private_bytes(pid)
    File.read("/proc/#{pid}/smaps_rollup")[/^Private_Dirty: +(\d+) kB/, 1].to_i * 1024
  end
end
