# frozen_string_literal: true

require_relative "agents/airbrake"
require_relative "agents/bugsnag"

module Carat
  module Warmup
    # Monitoring agents and similar libraries, which know Puma and do not know Carat: see docs/monitoring.md. Carat
    # loads none that the application has not loaded.
    module Agents
      # Files of libraries that start their threads again in a forked process, according to the versions that were read.
      # Such a thread does not keep a worker from becoming the mold, where it continues to run. In forks of that mold
      # the thread is gone, and Ruby unlocks its Mutex, Monitor, and Queue. Only a lock of a C library would stay
      # locked, and none of these threads has one. Airbrake 6.2 starts some of its threads again only because of STARTS.
      # Datadog 2.42 marks its threads itself, and AppSignal 5.0 those of its probes.
      RESTARTED = %w[
        sentry/threaded_periodic_worker.rb
        rack/timeout/support/scheduler.rb
        new_relic/agent/threading/agent_thread.rb new_relic/agent/health_check.rb
        scout_apm/agent.rb scout_apm/background_recorder.rb scout_apm/app_server_load.rb
        elastic_apm/transport/base.rb elastic_apm/transport/connection/http.rb
        appsignal/check_in/scheduler.rb
        honeybadger/worker.rb honeybadger/events_worker.rb honeybadger/metrics_worker.rb
        opentelemetry/sdk/trace/export/batch_span_processor.rb
        opentelemetry/sdk/logs/export/batch_log_record_processor.rb
        opentelemetry/sdk/metrics/export/periodic_metric_reader.rb
        prometheus_exporter/client.rb prometheus_exporter/instrumentation/periodic_stats.rb
        bugsnag/delivery/thread_queue.rb
        airbrake-ruby/thread_pool.rb airbrake-ruby/performance_notifier.rb
        airbrake-ruby/backlog.rb airbrake-ruby/remote_settings.rb
      ].freeze

      # Variables that tell an agent that only forks of the process that loads the application serve requests.
      VARIABLES = { "NEW_RELIC_DISPATCHER" => "puma" }.freeze

      # Code that starts an agent in a forked process, by the agent's constant. Scout would start by a hook of Puma. New
      # Relic starts at the first request; if a process has had none, it would send the data that it has inherited when
      # it exits. AppSignal's check-ins would wait for threads of the parent process.
      STARTS = {
        Appsignal: lambda {
          ::Appsignal::CheckIn.instance_variable_set(:@scheduler, nil) if ::Appsignal.const_defined?(:CheckIn)
        },
        ScoutApm: -> { ::ScoutApm::Agent.instance.start },
        NewRelic: -> { ::NewRelic::Agent.after_fork(force_reconnect: true) if defined?(::NewRelic::Agent) },
        Bugsnag: -> { Bugsnag.start },
        Airbrake: -> { Airbrake.start }
      }.freeze

      # Code that keeps an agent from starting in the mold. Such an agent starts at the first request, and in the mold
      # `warm_up` makes requests.
      HOLDS = {
        NewRelic: lambda {
          agent = ::NewRelic::Agent.agent if defined?(::NewRelic::Agent)
          agent&.instance_variable_get(:@harvester)&.mark_started
        }
      }.freeze

      # Code that sends the data of a library at the end of a process, if the library has no at_exit block that does.
      EXITS = {
        ScoutApm: -> { ::ScoutApm::ErrorService::Notifier.new(::ScoutApm::Agent.instance.context).ship },
        OpenTelemetry: lambda {
          names = %i[tracer_provider meter_provider logger_provider].select { |it| ::OpenTelemetry.respond_to?(it) }
          providers = names.map { |name| ::OpenTelemetry.public_send(name) }
          providers.grep(->(it) { it.respond_to?(:force_flush) }).each { |it| it.force_flush(timeout: FLUSH_SECONDS) }
        },
        PrometheusExporter: lambda {
          next unless defined?(::PrometheusExporter::Client)

          ObjectSpace.each_object(::PrometheusExporter::Client) { |it| it.stop(wait_timeout_seconds: FLUSH_SECONDS) }
        },
        Bugsnag: -> { Bugsnag.finish },
        Airbrake: -> { Airbrake.finish }
      }.freeze

      # Code that sends all data in an agent's buffers before forks of the process, which would otherwise send the data
      # again.
      FLUSHES = {
        Sentry: lambda {
          ::Sentry.get_current_client&.flush
          ::Sentry.session_flusher&.flush
        },
        # The order matters: Scout counts the request that it sends, and then writes the file for this minute again.
        ScoutApm: lambda {
          EXITS[:ScoutApm].call
          ::ScoutApm::Agent.instance.stop_background_worker
        },
        Honeybadger: -> { ::Honeybadger.flush },
        Bugsnag: -> { Bugsnag.flush },
        Airbrake: -> { Airbrake.flush },
        Appsignal: lambda {
          scheduler = ::Appsignal::CheckIn.instance_variable_get(:@scheduler) if ::Appsignal.const_defined?(:CheckIn)
          scheduler&.stop
          STARTS[:Appsignal].call
        },
        **EXITS.slice(:OpenTelemetry, :PrometheusExporter),
        # Forks of the process start the agent's parts again when they see another process id, but only if the transport
        # does not count as stopped. Tasks that wait in a timer would keep the timer's thread.
        ElasticAPM: lambda do
          agent = ::ElasticAPM.agent or next
          agent.central_config.promise&.wait(FLUSH_SECONDS)
          agent.metrics.collect_and_send if agent.metrics.running?
          agent.stop
          ObjectSpace.each_object(::ElasticAPM::Transport::Connection) do |connection|
            connection.instance_variable_get(:@close_task)&.cancel
          end
        ensure
          agent&.transport&.stopped&.make_false
        end
      }.freeze

      # The seconds that all agents together may take.
      FLUSH_SECONDS = 2
      private_constant :RESTARTED, :VARIABLES, :STARTS, :HOLDS, :EXITS, :FLUSHES

      module_function

      # Calls the block, which loads the application, and returns its value. Meanwhile `environment` has the VARIABLES
      # that it did not have before.
      def beside(environment, log:)
        missing = VARIABLES.reject { |name, _| environment.key?(name) }
        environment.update(missing)
        yield.tap { each_loaded(HOLDS) { |name, hold| attempt(log, "keep #{name} from starting in the mold", &hold) } }
      ensure
        missing&.each_key { |name| environment.delete(name) }
      end

      # Whether the file at `path` starts threads, and starts them again in a forked process.
      def restarted?(path)
        RESTARTED.any? { |file| path.end_with?("/#{file}") }
      end

      # Starts the agents. To be called in each forked process that runs the application. Failures go to the ProcessLog
      # `log`.
      def start(log:)
        each_loaded(STARTS) { |name, start| attempt(log, "start #{name}", &start) }
      end

      # Makes the agents send their data. To be called after the at_exit blocks of such a process.
      def finish(log:)
        each_loaded(EXITS) { |name, finish| attempt(log, "flush #{name}", &finish) }
      end

      # Makes the agents send the data in their buffers. To be called in a process that has served, before it forks
      # others.
      def flush(log:)
        deadline = now + FLUSH_SECONDS
        each_loaded(FLUSHES) do |name, flush|
          thread = Thread.new { attempt(log, "flush #{name}", &flush) }
          log.warn("#{name} did not flush its buffers within #{FLUSH_SECONDS} s") unless thread.join(deadline - now)
        ensure
          thread&.kill
        end
      end

      def each_loaded(table, &)
        table.select { |name, _| Object.const_defined?(name) && !Object.autoload?(name) }.each(&)
      end

      def attempt(log, deed)
        yield
      rescue StandardError => e
        log.failure("cannot #{deed}", e)
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      private_class_method :each_loaded, :attempt, :now
    end
  end
end
