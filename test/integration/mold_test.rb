# frozen_string_literal: true

require "test_helper"

# How molds and workers come to life, and what they say when they do not.
class MoldTest < Support::IntegrationTest
  # How many further arenas the allocator has made: their ends are kept free in steps of 64 MiB.
  ARENAS = <<~'RUBY'
    ends = -> { File.foreach("/proc/self/maps").count { |line| line.match?(/[048c]000000 ---p 0+ 00:00 0/) } }
    run ->(_env) { [200, {}, [ends.call.to_s]] }
  RUBY
  PID = "run ->(_env) { [200, {}, [Process.pid.to_s]] }"

  def test_a_worker_whose_hook_raises_is_tried_again
    %i[before_fork after_fork on_worker_boot].each do |hook|
      server = serve(PID, workers: 1, config: <<~RUBY)
        #{hook} do
          tries = File.exist?("tries") ? File.read("tries").to_i : 0
          File.write("tries", tries + 1)
          raise "broken" if tries.zero?
        end
      RUBY
      await_log(server, /carat\.rb:4: broken \(RuntimeError\)/)
      refute_match(%r{lib/carat/(worker|mold|hooks)}, server.log)
      assert_equal 200, server.get.status
    end
  end

  def test_threads_share_one_arena_of_glibc_unless_a_variable_says_otherwise
    system = { workers: 1, threads: 3, args: %w[--allocator system] }
    assert_equal "0", serve(ARENAS, **system).get.body
    refute_equal "0", serve(ARENAS, **system, env: { "MALLOC_ARENA_MAX" => "8" }).get.body
  end

  def test_programs_that_the_application_starts_inherit_nothing_of_ours
    server = serve("run ->(_env) { [200, {}, [`ls -l /proc/self/fd`]] }", workers: 1)
    refute_match(/socket|memfd/, server.get.body)
  end

  def test_programs_are_ended_by_signals_that_molds_and_workers_ignore
    server = serve("run ->(_env) { [200, {}, [`grep SigIgn /proc/self/status`]] }", workers: 1)
    ignored = server.get.body[/\h{16}/].hex
    %w[INT TERM HUP].each { |name| assert_equal 0, ignored[Signal.list.fetch(name) - 1], name }
  end
end
