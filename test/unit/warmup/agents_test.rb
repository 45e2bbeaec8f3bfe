# frozen_string_literal: true

require "net/http"
require "socket"
require "stringio"
require "test_helper"
require "carat/log/process_log"
require "carat/warmup/agents"
require "carat/warmup/fork_safety"
require "carat/warmup/pools/connections"

module Carat
  class AgentsTest < Minitest::Test
    # As an agent makes its thread, in a file of its gem or of the application.
    MAKE = "Thread.new { gate.pop }"

    def test_a_variable_that_tells_an_agent_of_forks_is_there_while_the_application_loads
      env = {}
      log = Log::ProcessLog.new(StringIO.new)
      assert_equal "puma", Warmup::Agents.beside(env, log:) { env["NEW_RELIC_DISPATCHER"] }
      assert_empty env
      env["NEW_RELIC_DISPATCHER"] = "unicorn"
      Warmup::Agents.beside(env, log:) { assert_equal "unicorn", env["NEW_RELIC_DISPATCHER"] }
      assert_equal "unicorn", env["NEW_RELIC_DISPATCHER"]
    end

    def test_threads_that_a_library_starts_again_and_those_the_user_names_survive_a_fork
      gate = Queue.new
      others = Thread.list
      Warmup::ForkSafety.spared = ["lib/prices.rb"]
      paths = %w[/gems/sentry-ruby-6.6.2/lib/sentry/threaded_periodic_worker.rb
                 /gems/bugsnag-6.27.1/lib/bugsnag/delivery/thread_queue.rb
                 /gems/airbrake-ruby-6.2.2/lib/airbrake-ruby/thread_pool.rb lib/prices.rb /app/lib/prices.rb
                 /app/lib/other_prices.rb /app/sentry/threaded_periodic_worker.rb.rb]
      threads = paths.map { |path| eval(MAKE, binding, path) } # rubocop:disable Security/Eval -- it names the file
      Thread.pass until gate.num_waiting == threads.size
      remark = Warmup::ForkSafety.obstacle(own: others, within: 0)
      left = paths.select { |path| remark.include?(" #{path}:") }

      assert_equal paths.last(2), left
    ensure
      Warmup::ForkSafety.spared = nil
      gate.close
      threads.each(&:join)
    end

    def test_an_agent_that_only_puma_would_start_is_started_and_its_failure_logged
      agent = Class.new { def start = raise("no key") }.new
      scout = Module.new { const_set(:Agent, Struct.new(:instance).new(agent)) }
      text = loaded(ScoutApm: scout) { |log| Warmup::Agents.start(log:) }

      assert_match(/cannot start ScoutApm: .*no key/, text)
    end

    def test_new_relic_does_not_start_in_the_mold_and_starts_anew_in_a_fork
      deeds = []
      harvester = Class.new { define_method(:mark_started) { deeds << :held } }.new
      agent = Object.new.tap { |it| it.instance_variable_set(:@harvester, harvester) }
      relic = Module.new { const_set(:Agent, Module.new) }
      relic::Agent.define_singleton_method(:agent) { agent }
      relic::Agent.define_singleton_method(:after_fork) { |**options| deeds << options }
      text = loaded(NewRelic: relic) do |log|
        Warmup::Agents.beside({}, log:) { deeds << :loaded }
        Warmup::Agents.start(log:)
      end

      assert_equal [:loaded, :held, { force_reconnect: true }], deeds
      assert_empty text
    end

    def test_check_ins_of_appsignal_are_sent_before_a_fork_and_scheduled_anew_after_it
      deeds = []
      scheduler = Class.new { define_method(:stop) { deeds << :sent } }.new
      appsignal = Module.new { const_set(:CheckIn, Module.new) }
      left = lambda do |task|
        appsignal::CheckIn.instance_variable_set(:@scheduler, scheduler)
        text = loaded(Appsignal: appsignal) { |log| Warmup::Agents.public_send(task, log:) }
        [*appsignal::CheckIn.instance_variable_get(:@scheduler), *text.lines]
      end

      assert_empty left.call(:start)
      assert_empty deeds
      assert_empty left.call(:flush)
      assert_equal [:sent], deeds
    end

    def test_elastic_can_start_in_forks_also_when_it_could_not_send_all
      deeds = []
      stopped = Class.new { define_method(:make_false) { deeds << :may_start } }.new
      metrics = Class.new { define_method(:running?) { false } }.new
      parts = [Struct.new(:promise).new, metrics, Struct.new(:stopped).new(stopped)]
      agent = Struct.new(:central_config, :metrics, :transport).new(*parts)
      agent.define_singleton_method(:stop) { raise IOError, "no collector" }
      elastic = Module.new { define_singleton_method(:agent) { agent } }
      text = loaded(ElasticAPM: elastic) { |log| Warmup::Agents.flush(log:) }

      assert_equal [:may_start], deeds
      assert_match(/cannot flush ElasticAPM: .*no collector/, text)
    end

    def test_a_kept_connection_ends_before_a_fork_and_is_opened_once_after_it
      server = TCPServer.new("127.0.0.1", 0)
      answering = Thread.new { loop { answer(server.accept) } }
      http = Net::HTTP.start("127.0.0.1", server.addr[1])
      assert_equal "1", http.get("/").body
      Warmup::Connections.close(log: Log::ProcessLog.new(log = StringIO.new))

      assert_equal %w[1 2], Array.new(2) { http.get("/").body }
      assert_empty log.string
    ensure
      answering&.kill&.join
      server.close
    end

    private

    # What the block logs while the constants exist.
    def loaded(**constants)
      constants.each { |name, value| Object.const_set(name, value) }
      yield Log::ProcessLog.new(text = StringIO.new)
      text.string
    ensure
      constants.each_key { |name| Object.send(:remove_const, name) }
    end

    # Answers each request of the connection with its number there.
    def answer(client)
      (1..).each do |number|
        client.gets("\r\n\r\n") or break
        client.write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n#{number}")
      end
      client.close
    end
  end
end
