# frozen_string_literal: true

require "test_helper"

# What the end of a process runs: all at_exit blocks of the application, as in Puma, and its own Tempfiles' finalizers.
class AtExitTest < Support::IntegrationTest
  APP = <<~'RUBY'
    require "tempfile"
    at_exit { File.write("told", "mold's in #{Process.pid}\n", mode: "a") }
    owner = Process.pid
    at_exit { File.write("told", "guarded in #{Process.pid}\n", mode: "a") if Process.pid == owner }
    OF_THE_MOLD = Tempfile.new("mold", Dir.pwd)
    run lambda { |_env|
      $mine ||= Tempfile.new("worker", Dir.pwd)
      at_exit { File.write("told", "worker's in #{Process.pid}\n", mode: "a") }
      [200, {}, [Process.pid.to_s]]
    }
  RUBY

  HANGING = <<~'RUBY'
    at_exit { File.write("told", "inherited\n", mode: "a") }
    at_exit do
      File.write("hung", Process.pid)
      sleep
    end
    run ->(_env) { [200, {}, [Process.pid.to_s]] }
  RUBY

  RAISING = <<~'RUBY'
    at_exit { File.write("told", "inherited\n", mode: "a") }
    at_exit { raise IOError, "no connection" }
    run ->(_env) { [200, {}, [Process.pid.to_s]] }
  RUBY

  # Each process keeps the files that it has created, and knows those of its ancestors.
  FILES = <<~'RUBY'
    require "tempfile"
    FILES = [Tempfile.new("boot", Dir.pwd)]
    run(lambda do |_env|
      FILES << Tempfile.new("worker", Dir.pwd) unless $mine == Process.pid
      $mine = Process.pid
      [200, {}, [FILES.map { |file| [File.basename(file.path)[/\A[a-z]+/], File.exist?(file.path)] }.inspect]]
    end)
  RUBY

  def test_blocks_run_in_the_mold_and_in_every_process_that_inherits_them
    server = serve(APP, workers: 1, threads: 1)
    worker = server.get.body
    mold = server.mold
    assert_predicate server.stop, :success?
    expected = ["guarded in #{mold}", "mold's in #{mold}", "mold's in #{worker}", "worker's in #{worker}"]
    assert_equal expected, server.directory.read("told").lines(chomp: true).sort
  end

  def test_a_block_that_hangs_costs_its_limit_and_a_line_that_names_it
    server = serve(HANGING, workers: 1, threads: 1)
    worker = server.get.body.to_i
    Process.kill(:TERM, worker)
    eventually { server.directory.read("hung") == worker.to_s }
    Process.kill(:TERM, worker) # there is less time
    await_log(server, /worker=1: an at_exit block did not finish in time: config\.ru:4:in [^,]*, at config\.ru:4:in/)
    await_log(server, /worker ended worker=1 .*pid=#{worker} .*cause="exit status 0"/)

    refute_path_exists File.join(server.directory.path, "told")
    server.destroy
  end

  def test_a_block_that_hangs_in_a_worker_that_may_take_its_time_is_cut_off_within_a_minute
    server = serve(HANGING, workers: 1, threads: 1, config: "shutdown_timeout 500\n")
    worker = server.get.body.to_i
    Process.kill(:TERM, worker)

    await_log(server, /worker=1: an at_exit block did not finish in time/, within: 60)
    server.destroy
  end

  def test_a_program_name_that_agents_can_use_is_in_the_mold_and_in_workers
    server = serve('NAME = File.basename($0); run ->(_env) { [200, {}, ["#{NAME} #{File.basename($0)}"]] }')

    assert_equal "carat carat", server.get.body
  end

  def test_temporary_files_of_a_worker_end_with_it_and_those_of_the_mold_do_not
    server = serve(APP, workers: 1, threads: 1)
    worker = server.get.body.to_i
    assert_equal [1, 1], [files(server, "mold"), files(server, "worker")]
    Process.kill(:TERM, worker)
    await_log(server, /worker ended .*pid=#{worker}/)
    assert_equal [1, 0], [files(server, "mold"), files(server, "worker")]
  end

  def test_a_block_that_raises_is_named_and_the_end_is_as_planned
    server = serve(RAISING, workers: 1, threads: 1)
    worker = server.get.body
    assert_predicate server.stop, :success?

    assert_match(/worker=1: an at_exit block raised IOError: config\.ru:2:in /, server.log)
    assert_match(/ info worker ended worker=1 .*pid=#{worker} cause="exit status 0"/, server.log)
    assert_equal 2, server.directory.read("told").lines.size
  end

  def test_temporary_files_live_as_long_as_a_process_that_has_them
    server = serve(FILES, workers: 1, threads: 1, config: "refork after: [2, 2]\n")
    bodies = []
    eventually { bodies.push(server.get.body) && server.log.scan("mold ready").size == 3 }
    eventually { bodies.push(server.get.body).last.scan("worker").size == 3 }
    refute_includes bodies.join, "false"
    eventually { [1, 3] == [files(server, "boot"), files(server, "worker")] } # others have ended
    server.stop

    assert_equal [0, 0], [files(server, "boot"), files(server, "worker")]
  end

  def test_temporary_files_of_replaced_code_end_with_its_processes
    server = serve(FILES, workers: 1, threads: 1)
    server.get
    server.kill(:USR1)
    await_log(server, /worker ended .*gen=1/)
    server.get
    assert_equal [2, 1], [files(server, "boot"), files(server, "worker")]
    server.stop

    assert_equal [0, 0], [files(server, "boot"), files(server, "worker")]
  end

  private

  def files(server, prefix)
    Dir.children(server.directory.path).count { |name| name.start_with?(prefix) }
  end
end
