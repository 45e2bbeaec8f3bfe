# frozen_string_literal: true

require "test_helper"
require "socket"

# `carat load` with wrk.
class LoadTest < Minitest::Test
  include Support::Eventually
  include Support::LabApplication

  SHORT = %w[load --seconds 1 --connections 2].freeze
  MIB = 1024 * 1024

  def test_application_is_booted_loaded_and_stopped
    write("config.ru", "File.write(\"pid\", Process.pid)\n#{RACKUP}")
    report = report(*SHORT, "--path", "/a?b=c")

    assert_equal [1, false, "/a?b=c", 2], report.values_at("schema", "interrupted", "path", "connections")
    assert_operator report.fetch("requests"), :>, 0
    assert_equal [0, {}], report.values_at("failed", "errors")
    assert_in_delta report.fetch("requests") / report.fetch("seconds"), report.fetch("requests_per_second"), 0.1
    eventually { !File.exist?("/proc/#{File.read(path("pid"))}") }
  end

  def test_cpu_and_memory_of_all_processes_are_recorded_over_time
    # 1 ms of work a request and 20 MB in the application.
    write("config.ru", <<~RUBY)
      KEPT = "x" * 20_000_000
      clock = -> { Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) }
      run ->(_env) { finish = clock.call + 0.001; Thread.pass while clock.call < finish; [200, {}, []] }
    RUBY
    report = report(*SHORT)

    # The kernel counts the time of a process in ticks.
    assert_operator report.dig("cpu", "seconds_per_request"), :>=, 0.0009
    assert_operator report.dig("pss", "before"), :>, 20_000_000
    assert_operator report.dig("pss", "peak"), :>=, report.dig("pss", "after")
    timeline = report.fetch("timeline")
    assert_operator timeline.size, :>=, 2
    assert_equal timeline.map { |point| point["cpu_seconds"] }.sort, timeline.map { |point| point["cpu_seconds"] }
    # The edge, the mold, and one worker.
    assert_equal [3], timeline.map { |point| point["processes"] }.uniq
  end

  def test_running_server_is_found_by_its_port
    puma = Support::PumaServer.new.start
    report = report(*SHORT, puma.urls.first)

    assert_equal [nil, 1], [report["unwatched"], report.dig("timeline", 0, "processes")]
    assert_operator report.dig("cpu", "seconds"), :>, 0
    assert_operator report.dig("pss", "before"), :>, MIB
  ensure
    puma&.stop
  end

  def test_responses_that_fail_under_load_are_counted
    write("config.ru", "COUNT = [0]\nrun ->(_env) { [(COUNT[0] += 1).odd? ? 200 : 503, {}, []] }\n")
    report = report(*SHORT)

    assert_operator report.fetch("failed"), :>, 0
    assert_equal({ "status" => report.fetch("failed") }, report.fetch("errors"))
    assert_in_delta report.fetch("requests"), report.fetch("failed"), 10 + (report.fetch("requests") * 0.1)
  end

  def test_interrupted_load_reports_what_is_known
    write("config.ru", <<~RUBY)
      COUNT = [0]
      run ->(_env) { File.write("reached", "") if (COUNT[0] += 1) == 3; sleep 0.5; [200, {}, []] }
    RUBY
    report = interrupted_report("load", "--seconds", "600") { File.exist?(path("reached")) }

    assert_equal true, report.fetch("interrupted")
    assert_operator report["seconds"] || 0, :<, 600
  end

  def test_interrupted_boot_reports_nothing
    write("config.ru", "File.write(\"reached\", \"\")\nsleep\n")
    report = interrupted_report("load") { File.exist?(path("reached")) }

    assert_equal [true, nil, nil, []], report.values_at("interrupted", "requests", "cpu", "timeline")
  end

  def test_application_that_does_not_boot_shows_why
    write("config.ru", "raise \"no database\"\n")
    _, err, status = carat(*SHORT)

    assert_equal 1, status
    assert_includes err, "no database"
    assert_equal "carat: the application does not boot; the lines above say why\n", err.lines.last
  end

  def test_path_that_fails_is_refused
    write("config.ru", "run ->(_env) { [500, {}, []] }\n")

    assert_equal ["", "carat: GET / responds with status 500; name a path that works with --path\n", 1], carat(*SHORT)
  end

  def test_server_that_is_not_there_is_refused
    port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    _, err, status = carat(*SHORT, "http://127.0.0.1:#{port}/")

    assert_match(%r{\Acarat: http://127\.0\.0\.1:#{port}/ does not respond: .*; start the server, or .*\n\z}, err)
    assert_equal 1, status
  end

  def test_wrong_arguments_are_one_clear_sentence
    {
      %w[--seconds 0] => "--seconds: \"0\" is not a number from 1 to 86400\n",
      %w[--connections many] => "--connections: \"many\" is not a number from 1 to 10000\n",
      %w[--path x] => "--path: \"x\" is not a path that begins with / and is percent-encoded\n",
      %w[http://127.0.0.1/ --workers 2] => "--workers: no server is started for a URL\n",
      %w[http://127.0.0.1/a --path /b] => "--path: the URL has a path already\n",
      %w[http://127.0.0.1/ config.ru] => "config.ru: one URL or rackup file is enough\n",
      %w[ftp://127.0.0.1/] => "ftp://127.0.0.1/: not a URL such as http://127.0.0.1:9292/\n"
    }.each { |words, message| assert_equal ["", message, 78], carat("load", *words) }
  end
end
