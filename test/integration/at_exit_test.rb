# frozen_string_literal: true

require "test_helper"

# What the end of a worker runs: what the worker itself has registered, and nothing of the mold's.
class AtExitTest < Support::IntegrationTest
  APP = <<~'RUBY'
    require "tempfile"
    at_exit { File.write("told", "mold's in #{Process.pid}\n", mode: "a") }
    OF_THE_MOLD = Tempfile.new("mold", Dir.pwd)
    run lambda { |_env|
      $mine ||= Tempfile.new("worker", Dir.pwd)
      at_exit { File.write("told", "worker's in #{Process.pid}\n", mode: "a") }
      [200, {}, [Process.pid.to_s]]
    }
  RUBY

  def test_blocks_run_in_the_process_that_registered_them
    server = serve(APP, workers: 1, threads: 1)
    worker = server.get.body
    mold = server.mold
    assert_predicate server.stop, :success?
    assert_equal ["mold's in #{mold}", "worker's in #{worker}"], server.directory.read("told").lines(chomp: true).sort
  end

  def test_temporary_files_of_a_worker_end_with_it_and_those_of_the_mold_do_not
    server = serve(APP, workers: 1, threads: 1)
    worker = server.get.body.to_i
    assert_equal [1, 1], [files(server, "mold"), files(server, "worker")]
    Process.kill(:TERM, worker)
    await_log(server, /worker ended .*pid=#{worker}/)
    assert_equal [1, 0], [files(server, "mold"), files(server, "worker")]
  end

  private

  def files(server, prefix)
    Dir.children(server.directory.path).count { |name| name.start_with?(prefix) }
  end
end
