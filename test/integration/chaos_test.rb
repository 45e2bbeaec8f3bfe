# frozen_string_literal: true

require "test_helper"
require "support/chaos/faults"
require "support/chaos/ledger"
require "support/chaos/load"
require "support/chaos/log_pipe"
require_relative "../../bench/lib/bench"

# Processes are killed, stopped, and starved while clients send requests, and the application writes down what it runs.
# In the end both sides are compared, request by request. CARAT_TEST_SEED repeats the faults and requests of a run.
class ChaosTest < Support::IntegrationTest
  include Support::Chaos

  # Requests before the first fault, after which the edge should have all the memory that it needs.
  WARM_UP = 300
  EDGE_GROWTH_KB = 16_384
  ARGS = %w[--request-timeout 3 --queue-timeout 1 --worker-memory 60MB --refork 200 --spool-limit 1500KB
            --inline-body-limit 16KB --access-log --maintenance maintenance].freeze
  # Files of the edge have at most 1 MB, less than the largest bodies have. The ledger may have more.
  FILE_BYTES = [1 << 20, Process::RLIM_INFINITY].freeze
  CONFIG = "on_worker_boot { Process.setrlimit(:FSIZE, Process::RLIM_INFINITY) }\n"
  MEMORY = 192 << 20
  DESCRIPTORS = 200
  # Where there is no cgroup, allocation fails in the application.
  ADDRESS_SPACE = <<~'RUBY'
    on_worker_boot do
      used = File.read("/proc/self/statm").to_i * 4096
      Process.setrlimit(:AS, used + (200 << 20))
    end
  RUBY

  def test_every_request_is_accounted_for_with_threads
    survive(workers: 3, threads: 2, last: :upgrade_in_the_middle)
  end

  def test_every_request_is_accounted_for_with_fibers_and_streams
    survive(workers: "1..3", fibers: 4, args: %w[--request-body stream --worker-idle-timeout 1])
  end

  def test_every_request_is_accounted_for_when_workers_get_no_memory
    cgroup = Bench::Cgroup.new(MEMORY) unless Bench::Cgroup.obstacle
    limited = cgroup ? { command: cgroup.wrap(Support::ServerOptions::COMMAND) } : { config: CONFIG + ADDRESS_SPACE }
    survive(workers: 2, threads: 2, numbers: { eat: 6, kill_mold: 1 }, **limited)
  ensure
    cgroup&.remove
  end

  # A GET may run twice, so it survives its worker.
  def test_every_get_is_served_when_workers_and_molds_are_killed
    server = serve(Ledger::APP, workers: 3, threads: 2, args: %w[--refork 200])
    load = Load.new(server, "g", random: @random, kinds: %i[get get streams])
    Faults.new(server, load: load, random: @random).run({ kill_worker: 12, kill_mold: 3 }, calm: 30..60)
    outcomes = load.finish

    assert_equal [200], outcomes.map(&:status).uniq
    assert_empty Ledger.of(server.directory).contradictions(outcomes)
    # A mold that has not forked yet has no generation in its title.
    eventually(message: "three workers and a mold") { server.workers.size == 3 && server.children.size == 4 }
  ensure
    load&.finish
  end

  def setup
    super
    @seed = Integer(ENV.fetch("CARAT_TEST_SEED", Random.new_seed % 1_000_000))
    @random = Random.new(@seed)
    @outcomes = []
  end

  private

  # Starts a server, does everything to it, and proves that nothing is missing.
  def survive(numbers: Faults::NUMBERS, args: [], last: :stop_in_the_middle, **options)
    log = LogPipe.new
    server = serve(Ledger::APP, args: ARGS + args, config: CONFIG, **options,
                                spawn: { %i[out err] => log.writer, rlimit_fsize: FILE_BYTES,
                                         rlimit_nofile: DESCRIPTORS })
    log.copy_to(server.directory.log_path)
    least = options.fetch(:workers).to_s.to_i
    eventually(message: "#{least} workers") { server.workers.size == least }
    calm = Support::ProcessTree.descriptors(server.pid)
    warm_up(server)
    warm = Support::ProcessTree.unshared(server.pid)
    torment(server, log, numbers)
    await_responses_of_all_workers(server)
    eventually(message: "#{least} workers again") { server.workers.size == least }
    assert_nothing_left(server, calm, warm)
    send(last, server)
    assert_empty Ledger.of(server.directory).contradictions(@outcomes)
    assert_operator @outcomes.count(&:served?), :>, @outcomes.size / 2
  ensure
    @servers.each(&:destroy)
    log&.close
  end

  def report
    super
    warn "CARAT_TEST_SEED=#{@seed}"
  end

  def warm_up(server)
    load = load_for(server, "w")
    eventually(message: "#{WARM_UP} requests") { load.size >= WARM_UP }
    @outcomes.concat(load.finish)
  end

  def torment(server, log, numbers)
    load = load_for(server, "c")
    client = Client.new(server, "h", @random) { false }
    Faults.new(server, load: load, client: client, log: log, random: @random).run(numbers)
  ensure
    client&.close
    @outcomes.concat(load.finish, client.outcomes)
  end

  def stop_in_the_middle(server)
    in_the_middle(server, "s") do |load|
      load.expect_stop
      assert_equal 0, server.stop.exitstatus
    end
  end

  # The old edge finishes while its clients go on, and then the new one is told to stop.
  def upgrade_in_the_middle(server)
    in_the_middle(server, "u") do |load|
      server.kill(:USR2)
      assert_equal 0, server.wait.exitstatus
      goal = load.size + 100
      eventually(message: "100 requests of the new edge") { load.size >= goal }
      load.expect_stop
      Process.kill(:TERM, *Support::ProcessTree.edges(server.directory.path))
    end
  end

  def in_the_middle(server, name)
    load = load_for(server, name)
    eventually(message: "100 requests") { load.size >= 100 }
    yield load
    await_emptiness(server)
  ensure
    @outcomes.concat(load.join)
  end

  def load_for(server, name)
    Load.new(server, name, random: @random)
  end

  # Each worker that there is serves.
  def await_responses_of_all_workers(server)
    load = load_for(server, "e")
    eventually(message: "responses of all workers") { (server.workers.values - load.workers).empty? }
  ensure
    @outcomes.concat(load.finish)
  end

  # The edge has what it had before: no more descriptors, not much more memory, and no zombies.
  def assert_nothing_left(server, descriptors, private_kb)
    eventually { assert_operator Support::ProcessTree.descriptors(server.pid), :<=, descriptors }
    eventually { assert_empty(server.children.reject { |pid| Support::ProcessTree.alive?(pid) }) }
    assert_operator Support::ProcessTree.unshared(server.pid) - private_kb, :<, EDGE_GROWTH_KB
  end
end
