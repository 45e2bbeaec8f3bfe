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

  def test_an_application_that_exits_while_it_loads_is_told_with_its_place
    assert_refused(/^.*config\.ru:1: (exit|SystemExit) \(SystemExit\)$/, app: "exit 0\n")
  end

  def test_a_missing_library_is_told_with_the_line_that_wants_it
    assert_refused(%r{^.*config\.ru:2: cannot load such file -- no/such/library \(LoadError\)$},
                   app: "\nrequire \"no/such/library\"\n")
  end

  def test_a_syntax_error_is_told_with_its_place
    assert_refused(/^.*config\.ru:2: syntax error.*\(SyntaxError\)$/, app: "\nrun ->(_env) {\n")
  end

  def test_an_error_deep_in_the_application_shows_the_application_s_way_there
    log = assert_refused(/^.*lib\.rb:2: broken \(RuntimeError\)$/,
                         app: "require \"./lib\"\nLib.load\n",
                         files: { "lib.rb" => "module Lib\n  def self.load = raise(\"broken\")\nend\n" })
    assert_match(/^\s+from \S*config\.ru:2:in /, log)
  end

  def test_a_hook_that_raises_in_the_mold_keeps_it_from_booting
    assert_refused(/^.*carat\.rb:1: broken \(RuntimeError\)$/, config: "on_mold_boot { raise \"broken\" }\n")
  end

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

  def test_the_application_knows_its_environment
    server = serve('run ->(_env) { [200, {}, [ENV.values_at("RACK_ENV", "RAILS_ENV").join(" ")]] }',
                   workers: 1, args: %w[-e staging])
    assert_equal "staging staging", server.get.body
  end

  private

  # The server does not start, and says why without a line of ours.
  def assert_refused(reason, **options)
    server = server(**options)
    assert_equal 1, server.run.exitstatus
    assert_match reason, server.log
    refute_match(%r{lib/carat|rack/builder}, server.log)
    server.log
  end
end
