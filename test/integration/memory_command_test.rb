# frozen_string_literal: true

require "json"
require "open3"
require "test_helper"

class MemoryCommandTest < Support::IntegrationTest
  def test_a_server_is_weighed
    server = start(workers: 2)
    out, err, status = carat("memory", "--pid", server.pid.to_s)

    assert_equal ["", 0], [err, status]
    assert_match(/\Acarat \S+, pid #{server.pid}; sizes in MiB/, out)
    %w[edge mold worker\ 1 worker\ 2 total].each { |name| assert_match(/^#{name} +(\d+ +)?[\d-]/, out) }
    assert_match(/^n workers weigh \d+\.\d \+ \d+\.\d n; n is 2$/, out)
    assert_match(/^without sharing they would weigh \d+\.\d: \d+\.\d more$/, out)
  end

  def test_mold_that_is_kept_after_a_restart_is_named_and_spoils_no_sum
    server = start(workers: 2)
    base = ->(text) { text[/^n workers weigh (\d+\.\d)/, 1].to_f }
    before = base.call(carat("memory", "--pid", server.pid.to_s).first)
    carat("restart", "--pid", server.pid.to_s)
    out, = carat("memory", "--pid", server.pid.to_s)

    assert_match(/^previous mold +1 +\d+ +\d+\.\d .* jemalloc/, out)
    assert_match(/^previous mold: \d+\.\d more for a while$/, out)
    refute_match(/^no stats/, out)
    assert_in_delta before, base.call(out), before / 4
  end

  def test_one_of_several_servers_is_chosen_by_its_process_id
    one = start
    other = start
    _out, err, status = carat("memory")

    assert_equal 1, status
    # Root finds whatever else runs on this machine, too.
    assert_match(/\Acarat: several servers are running; choose one with --pid(\n  \d+.*)+\n\z/, err)
    assert_empty [one, other].map(&:pid) - err.scan(/\d+/).map(&:to_i)
    out, = carat("memory", "--pid", other.pid.to_s, "--json")

    assert_equal other.pid, JSON.parse(out)["pid"]
  end

  # An idle edge allocates nothing, and would keep what it has freed.
  def test_edge_has_a_thread_that_returns_free_memory
    server = start
    names = Dir["/proc/#{server.pid}/task/*/comm"].map { |path| File.read(path).chomp }

    assert_includes names, "jemalloc_bg_thd"
  end

  private

  # All servers of a test have their control sockets in the directory of the first.
  def start(**options)
    server = server(env: { "XDG_RUNTIME_DIR" => @session }.compact, **options)
    @session ||= server.directory.path
    server.start
    await_workers(server, options[:workers] || 1)
    eventually(message: "the control socket") { File.socket?(socket(server)) }
    server
  end

  def socket(server)
    File.join(@session, "carat", "carat-#{server.pid}.sock")
  end

  # Runs the command where no application is; returns what it prints, its complaint, and its status.
  def carat(*words)
    env = Support::ServerOptions::NEUTRAL_ENV.merge("XDG_RUNTIME_DIR" => @session)
    out, err, status = Open3.capture3(env, *Support::ServerOptions::COMMAND, *words,
                                      chdir: Dir.tmpdir)
    [out, err, status.exitstatus]
  end
end
