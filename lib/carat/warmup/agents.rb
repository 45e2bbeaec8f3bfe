# frozen_string_literal: true

module Carat
  module Warmup
    # Monitoring agents and the like, which know Puma, and not Carat: see docs/monitoring.md. Carat loads none that the
    # application has not loaded.
    module Agents
      # Files of libraries that start their threads again in a forked process, by the version that was read. A thread of
      # theirs sleeps or sends when a worker becomes the mold, and lives on there. In its forks, Ruby unlocks the Mutex,
      # Monitor, and Queue of a thread that is gone; the lock of a C library would stay locked, and none of these has
      # one. Datadog 2.42 and AppSignal 5.0 mark their threads themselves.
      RESTARTED = %w[
        sentry/threaded_periodic_worker.rb
        rack/timeout/support/scheduler.rb
        new_relic/agent/threading/agent_thread.rb new_relic/agent/health_check.rb
        scout_apm/agent.rb scout_apm/background_recorder.rb scout_apm/app_server_load.rb
        honeybadger/worker.rb honeybadger/events_worker.rb honeybadger/metrics_worker.rb
        opentelemetry/sdk/trace/export/batch_span_processor.rb
        opentelemetry/sdk/logs/export/batch_log_record_processor.rb
        opentelemetry/sdk/metrics/export/periodic_metric_reader.rb
        prometheus_exporter/client.rb prometheus_exporter/instrumentation/periodic_stats.rb
      ].freeze

      # Variables by which an agent learns that forked processes serve, and not the one that loads the application.
      VARIABLES = { "NEW_RELIC_DISPATCHER" => "puma" }.freeze

      # What starts an agent in a worker that it would start by a hook of Puma, by its constant.
      STARTS = { ScoutApm: -> { ::ScoutApm::Agent.instance.start } }.freeze

      # What sends all that an agent has in its buffers: forks of the process would send it once more.
      FLUSHES = {
        Sentry: lambda {
          ::Sentry.get_current_client&.flush
          ::Sentry.session_flusher&.flush
        },
        ScoutApm: -> { ::ScoutApm::Agent.instance.stop_background_worker },
        Honeybadger: -> { ::Honeybadger.flush },
        OpenTelemetry: -> { ::OpenTelemetry.tracer_provider.force_flush if defined?(::OpenTelemetry::SDK) },
        PrometheusExporter: lambda {
          next unless defined?(::PrometheusExporter::Client)

          ObjectSpace.each_object(::PrometheusExporter::Client) { |it| it.stop(wait_timeout_seconds: FLUSH_SECONDS) }
        }
      }.freeze

      # How long all of them together may take.
      FLUSH_SECONDS = 2
      private_constant :RESTARTED, :VARIABLES, :STARTS, :FLUSHES

      module_function

      # Returns what the block returns, which loads the application, with VARIABLES in `environment` that are not there.
      def beside(environment)
        missing = VARIABLES.reject { |name, _| environment.key?(name) }
        environment.update(missing)
        yield
      ensure
        missing&.each_key { |name| environment.delete(name) }
      end

      # Whether a library that starts its threads again has started one in the file at `path`.
      def restarted?(path)
        RESTARTED.any? { |file| path.end_with?("/#{file}") }
      end

      # Call it in each forked process that runs the application. Failures go to the ProcessLog `log`.
      def start(log:)
        each_loaded(STARTS) { |name, start| attempt(log, "start #{name}") { start.call } }
      end

      # Call it before a process that has served forks others.
      def flush(log:)
        deadline = now + FLUSH_SECONDS
        each_loaded(FLUSHES) do |name, flush|
          thread = Thread.new { attempt(log, "flush #{name}") { flush.call } }
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
