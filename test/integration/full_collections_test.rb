# frozen_string_literal: true

require "test_helper"

# Full garbage collections run while a worker serves nobody.
class FullCollectionsTest < Support::IntegrationTest
  # Objects that stay, and requests that replace some, so that now and then Ruby wants to look at all. A request into
  # which that has fallen leaves a line.
  WORK = <<~'RUBY'
    HEAP = Array.new(300_000) { |n| "object number #{n}" }
    CACHE = {}
    WORK = lambda do |_env = nil|
      300.times { |n| CACHE[rand(20_000)] = "value number #{n}" * 3 }
      rows = Array.new(1500) { |n| { n: n, text: "row number #{n}" } }
      rows.sum { |row| row[:text].size }.to_s
    end
  RUBY
  APP = <<~RUBY
    #{WORK}
    run(lambda do |env|
      full = GC.stat(:major_gc_count)
      body = WORK.call unless env["PATH_INFO"] == "/allowed"
      File.write("waited", "\#{GC.latest_gc_info(:major_by)}\\n", mode: "a") if GC.stat(:major_gc_count) != full
      body = GC.config[:rgengc_allow_full_mark].to_s if env["PATH_INFO"] == "/allowed"
      [200, {}, [body]]
    end)
  RUBY
  QUIET = 'on_quiet_worker { |number| File.write("quiet", "#{number} #{Process.pid}\n", mode: "a") }'

  def setup
    skip "Ruby #{RUBY_VERSION} has no switch for full collections: 3.4 has" if RUBY_VERSION < "3.4"
    super
  end

  def teardown
    super if @servers
  end

  def test_a_worker_is_emptied_before_it_collects
    server = serve(APP, workers: 2, threads: 1, config: QUIET, args: %w[--refork off])
    under_load(server) { eventually(message: "a collection") { lines(server, "quiet").any? } }

    assert_empty lines(server, "waited")
    assert_equal server.workers.map { |number, pid| "#{number} #{pid}" } & lines(server, "quiet"),
                 lines(server, "quiet").uniq.sort
  end

  def test_the_next_mold_may_run_full_collections_and_its_workers_are_emptied_too
    config = "#{QUIET}\nafter_refork { File.write(\"mold\", GC.config[:rgengc_allow_full_mark]) }"
    server = serve(APP, workers: 2, threads: 1, config: config, args: %w[--refork 100,1000000000])
    under_load(server) do
      eventually(message: "a collection after the refork") do
        lines(server, "mold").any? && lines(server, "quiet").any? { |line| server.workers.value?(line.split.last.to_i) }
      end
    end

    assert_equal ["true"], lines(server, "mold")
  end

  def test_a_hook_that_raises_does_not_keep_the_worker_from_collecting
    server = serve(APP, workers: 2, threads: 1, config: "#{QUIET}\non_quiet_worker { raise \"no quiet\" }",
                        args: %w[--refork off])
    under_load(server) { eventually(message: "collections") { lines(server, "quiet").size >= 2 } }

    assert_match(/on_quiet_worker failed: .*no quiet/, server.log)
  end

  def test_what_the_application_manages_itself_stays_so
    config = "on_worker_boot { GC.config(rgengc_allow_full_mark: false) }\n#{QUIET}"
    server = serve(APP, workers: 2, threads: 1, config: config, args: %w[--refork off])
    300.times { server.get }

    assert_equal "false", server.get("/allowed").body
    assert_empty lines(server, "quiet")
  end

  def test_a_request_that_waited_says_so_in_the_access_log
    { "text" => / gc=\d+\.\d{3}$/, "json" => /"gc_ms":\d+\.\d+/ }.each do |format, pattern|
      app = 'run ->(env) { GC.start if env["PATH_INFO"] == "/full"; [200, {}, []] }'
      server = serve(app, workers: 1, threads: 1, args: %W[--access-log --log-format #{format}])
      %w[/none /full].each { |path| server.get(path) }
      lines = eventually { server.log.lines.grep(%r{/none|/full}).then { |found| found if found.size == 2 } }
      assert_equal [false, true], (lines.map { |line| line.match?(pattern) }), lines.join
    end
  end

  def test_a_request_in_which_each_allocation_collects_is_answered
    app = <<~'RUBY'
      run(lambda do |env|
        GC.stress = env["PATH_INFO"] == "/stress"
        body = Array.new(3) { |n| "row #{n}" }.join
        [200, {}, [body]]
      ensure
        GC.stress = false
      end)
    RUBY
    server = serve(app, workers: 1, threads: 1)

    assert_equal ["row 0row 1row 2"] * 2, %w[/stress /].map { |path| server.get(path).body }
  end

  def test_a_process_collects_between_two_jobs
    config = <<~'RUBY'
      process "jobs" do
        loop do
          full = GC.stat(:major_gc_count)
          WORK.call
          File.write("waited", "job\n", mode: "a") if GC.stat(:major_gc_count) != full
          File.write("collected", "job\n", mode: "a") if Carat.collect_if_due
        end
      end
    RUBY
    server = serve("#{WORK}run ->(_env) { [200, {}, []] }", workers: 1, threads: 1, config: config)
    eventually(message: "collections") { lines(server, "collected").size >= 3 }

    assert_operator lines(server, "waited").size, :<=, 1, "the call has begun after the first job"
  end

  private

  def lines(server, file)
    path = File.join(server.directory.path, file)
    File.exist?(path) ? File.readlines(path, chomp: true) : []
  end

  # A client asks while the block runs, so that one of two workers is always free. Of four requests, one computes: one
  # worker could serve them all in less than half of its time.
  def under_load(server)
    await_workers(server, 2)
    done = false
    client = Thread.new { %w[/ /allowed /allowed /allowed].each { |path| server.get(path) } until done }
    yield
  ensure
    done = true
    client&.join
  end
end
