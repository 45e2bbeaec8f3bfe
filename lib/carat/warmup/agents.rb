# frozen_string_literal: true

module Carat
  module Warmup
    # Monitoring agents and the like, which know Puma, and not Carat: see docs/monitoring.md. Carat loads none that the
    # application has not loaded.
    module Agents
      # Files of libraries that start their threads again in a forked process, by the version that was read. Such a
      # thread sleeps or sends when a worker becomes the mold, and lives on there. In its forks, Ruby unlocks the
      # Mutex, Monitor, and Queue of a thread that is gone; the lock of a C library would stay locked, and none of
      # these has one. Datadog 2.42 marks its threads itself, AppSignal 5.0 those of its probes.
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
      ].freeze

      # Variables by which an agent learns that the process that loads the application does not serve, but its forks
      # do.
      VARIABLES = { "NEW_RELIC_DISPATCHER" => "puma" }.freeze

      # What starts an agent in a forked process, by its constant. Scout would start by a hook of Puma. New Relic starts
      # at the first request, and at the exit of a process that had none it would send what it has inherited.
      # AppSignal's check-ins would wait for the threads of another process.
      STARTS = {
        Appsignal: lambda {
          ::Appsignal::CheckIn.instance_variable_set(:@scheduler, nil) if ::Appsignal.const_defined?(:CheckIn)
        },
        ScoutApm: -> { ::ScoutApm::Agent.instance.start },
        NewRelic: -> { ::NewRelic::Agent.after_fork(force_reconnect: true) if defined?(::NewRelic::Agent) }
      }.freeze

      # What keeps an agent that starts at the first request of a process from starting in the mold, where only warm_up
      # makes requests.
      HOLDS = {
        NewRelic: lambda {
          agent = ::NewRelic::Agent.agent if defined?(::NewRelic::Agent)
          agent&.instance_variable_get(:@harvester)&.mark_started
        }
      }.freeze

      # What sends, at the end of a process, what a library holds that has no at_exit block for it.
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
        }
      }.freeze

      # What sends all that an agent has in its buffers: forks of the process would send it once more.
      FLUSHES = {
        Sentry: lambda {
          ::Sentry.get_current_client&.flush
          ::Sentry.session_flusher&.flush
        },
        # The order matters: Scout counts its own request, and writes its file of this minute anew.
        ScoutApm: lambda {
          EXITS[:ScoutApm].call
          ::ScoutApm::Agent.instance.stop_background_worker
        },
        Honeybadger: -> { ::Honeybadger.flush },
        Appsignal: lambda {
          scheduler = ::Appsignal::CheckIn.instance_variable_get(:@scheduler) if ::Appsignal.const_defined?(:CheckIn)
          scheduler&.stop
          STARTS[:Appsignal].call
        },
        **EXITS.slice(:OpenTelemetry, :PrometheusExporter),
        # Forks of the process restart what has stopped once they see another process id, unless the transport has
        # been closed. Tasks that wait in a timer would keep its thread.
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

      # How long all of them together may take.
      FLUSH_SECONDS = 2
      private_constant :RESTARTED, :VARIABLES, :STARTS, :HOLDS, :EXITS, :FLUSHES

      module_function

      # Calls the block, which loads the application, with those VARIABLES in `environment` that are not set there,
      # and returns its value.
      def beside(environment, log:)
        missing = VARIABLES.reject { |name, _| environment.key?(name) }
        environment.update(missing)
        yield.tap { each_loaded(HOLDS) { |name, hold| attempt(log, "keep #{name} from starting in the mold", &hold) } }
      ensure
        missing&.each_key { |name| environment.delete(name) }
      end

      # Whether a library that starts its threads again has started one in the file at `path`.
      def restarted?(path)
        RESTARTED.any? { |file| path.end_with?("/#{file}") }
      end

      # Call it in each forked process that runs the application. Failures go to the ProcessLog `log`.
      def start(log:)
        each_loaded(STARTS) { |name, start| attempt(log, "start #{name}", &start) }
      end

      # Call it after the at_exit blocks of such a process.
      def finish(log:)
        each_loaded(EXITS) { |name, finish| attempt(log, "flush #{name}", &finish) }
      end

      # Call it before a process that has served forks others.
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
