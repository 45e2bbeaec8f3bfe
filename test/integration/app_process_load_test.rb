# frozen_string_literal: true

require "json"
require "test_helper"

# The number of processes that follows a load, and processes that somebody ends.
class AppProcessLoadTest < Support::IntegrationTest
  include Support::ControlledServer
  include Support::Told

  OK = "run ->(_env) { [200, {}, []] }"
  # A loop whose load is what the file `load` says: a number, `hang`, or a name.
  FOLLOWING = LOOP.sub("stop_timeout: 20", <<~'RUBY'.tr("\n", " ").rstrip)
    stop_timeout: 20, count: 1..2, environment: { "LOADED" => "yes" },
    load: lambda {
      File.write("measured", "#{Process.pid} #{ENV["LOADED"]}");
      text = File.read("load");
      sleep if text == "hang";
      Float(text, exception: false) || text
    }
  RUBY

  def test_a_high_load_adds_a_process_which_a_process_of_its_own_measures
    server = follow("0.7")
    await_told(server, 1)
    eventually { count(server)["load"] }
    assert_equal({ "name" => "jobs", "min" => 1, "max" => 2, "wanted" => 1, "load" => 0.7 }, count(server))
    assert_match(/^process jobs: 1 wanted of 1 to 2; load 0.7$/, carat(server, "status").first)
    measured_by, environment = server.directory.read("measured").split
    server.directory.write("load", "1.5")
    await_told(server, 2)

    assert_equal "yes", environment
    refute_includes [server.mold, *server.workers, told(server).first[1]], measured_by.to_i
    assert_match(/info processes follow their load process=jobs count=2 load=1.50/, server.log)
  end

  def test_a_load_that_is_nonsense_is_logged_once_and_harms_nobody
    { "rubbish" => "load: a String is not a number of 0 or more",
      "-1" => "load: -1.0 is not a number of 0 or more" }.each do |load, cause|
      server = follow(load)
      await_log(server, /warn the load of processes cannot be measured process=jobs cause=".*#{Regexp.escape(cause)}/)

      assert_equal 200, server.get.status
      assert_equal 1, server.log.scan("cannot be measured").size
      assert_equal 0, server.stop.exitstatus
      await_emptiness(server)
    end
  end

  def test_scale_fixes_the_number_and_lets_it_follow_again
    server = follow("0.7")
    await_told(server, 1)
    assert_equal ["carat: process jobs 2, before 1..2\n", "", 0], carat(server, "scale", "jobs", "2")
    await_told(server, 2)

    assert_equal ["carat: process jobs 1..2, before 2\n", "", 0], carat(server, "scale", "jobs", "1..2")
  end

  def test_kill_process_ends_the_one_with_a_number
    server = serve(OK, config: LOOP.sub("stop_timeout", "count: 2, stop_timeout"), args: CONTROL_SOCKET)
    await_told(server, 2)
    second = processes(server).find { |row| row["number"] == 2 }.fetch("pid")
    assert_equal ["carat: jobs is replaced, process id #{second}\n", "", 0],
                 carat(server, "kill-process", "jobs", "2")

    assert_equal ["end", second], await_told(server, 4)[2]
    _, error, = carat(server, "kill-process", "jobs", "9")
    assert_equal "carat: process jobs with the number 9 does not run now\n", error
    assert_match(/declares no process mail, only: jobs/, carat(server, "kill-process", "mail")[1])
    assert_match(/needs NAME/, carat(server, "kill-process")[1])
  end

  def test_status_counts_the_descendants
    server = serve(OK, args: CONTROL_SOCKET, config: <<~RUBY)
      process("jobs", stop_timeout: 1) { 3.times { fork { sleep } }; sleep }
    RUBY

    eventually(message: "three descendants") { processes(server).first&.fetch("descendants") == 3 }
  end

  private

  def follow(load)
    serve(OK, config: FOLLOWING, files: { "load" => load }, args: CONTROL_SOCKET)
  end

  def processes(server) = status(server).fetch("app_processes")

  def count(server) = status(server).fetch("app_counts").first
end
