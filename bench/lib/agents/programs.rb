# frozen_string_literal: true

require_relative "error_trackers"
require_relative "program"
require_relative "stand_ins"

module Bench
  module Agents
    # By the names that `bench/agents` takes. Each is set up as its manual says, and no other line is written for Carat.
    PROGRAMS = {
      "sentry" => Program.new(
        gems: %w[sentry-ruby/sentry-ruby],
        boot: <<~'RUBY',
          require "sentry-ruby"
          Sentry.init do |it|
            it.dsn = COLLECTOR.sub("//", "//key@") + "/1"
            it.release = "1"
            it.background_worker_threads = 2
            it.sdk_logger = Logger.new(IO::NULL)
          end
          use Sentry::Rack::CaptureExceptions
        RUBY
        report: "Sentry.capture_message(mark)"
      ),
      "honeybadger" => Program.new(
        gems: %w[honeybadger-ruby honeybadger-ruby/vendor/cli],
        boot: <<~'RUBY',
          ENV.update("HONEYBADGER_API_KEY" => "key", "HONEYBADGER_CONNECTION_SECURE" => "false",
                     "HONEYBADGER_ENV" => "production", "HONEYBADGER_CONNECTION_HOST" => "127.0.0.1",
                     "HONEYBADGER_CONNECTION_PORT" => PORT, "HONEYBADGER_REPORT_DATA" => "true",
                     "HONEYBADGER_LOGGING_PATH" => "honeybadger.log",
                     "HONEYBADGER_BREADCRUMBS_ENABLED" => "false") # they repeat earlier reports
          require "honeybadger"
        RUBY
        report: 'Honeybadger.notify(mark, error_class: "Mark")'
      ),
      "opentelemetry" => Program.new(
        gems: %w[api common registry semantic_conventions sdk].map { |name| "opentelemetry-ruby/#{name}" },
        boot: <<~'RUBY',
          require "opentelemetry/sdk"
          require "net/http"
          class Poster
            def export(spans, timeout: nil)
              @http ||= Net::HTTP.new("127.0.0.1", PORT.to_i).tap { |it| it.keep_alive_timeout = 30 }
              @http.start unless @http.started?
              @http.post("/v1/traces", spans.map(&:name).join(" "))
              OpenTelemetry::SDK::Trace::Export::SUCCESS
            end

            def force_flush(timeout: nil) = 0
            def shutdown(timeout: nil) = 0
          end
          OpenTelemetry::SDK.configure { |it| it.add_span_processor(OpenTelemetry::SDK::Trace::Export::BatchSpanProcessor.new(Poster.new)) }
        RUBY
        report: 'OpenTelemetry.tracer_provider.tracer("t").in_span(mark) { nil }'
      ),
      "prometheus_exporter" => Program.new(
        gems: %w[prometheus_exporter],
        boot: <<~'RUBY',
          require "prometheus_exporter/client"
          CLIENT = PrometheusExporter::Client.new(host: "127.0.0.1", port: PORT.to_i)
        RUBY
        report: "CLIENT.send_json({ mark: mark })"
      ),
      "rack-timeout" => Program.new(
        gems: %w[rack-timeout],
        boot: 'require "rack-timeout"; Rack::Timeout::Logger.disable; use Rack::Timeout, service_timeout: 15',
        report: "nil", state: "Thread.list.size"
      ),
      "scout" => Program.new(
        gems: %w[scout_apm_ruby],
        files: "scout_*.data", late: "/apps/checkin.scout",
        boot: <<~'RUBY',
          ENV.update("SCOUT_MONITOR" => "true", "SCOUT_KEY" => "key", "SCOUT_NAME" => "app", "SCOUT_HOST" => COLLECTOR,
                     "SCOUT_ERRORS_ENABLED" => "true", "SCOUT_ERRORS_HOST" => COLLECTOR,
                     "SCOUT_LOG_FILE_PATH" => Dir.pwd, "SCOUT_DATA_FILE" => Dir.pwd)
          module SolidQueue; VERSION = "1.0"; end
          require "active_support/all"
          require "scout_apm"
          use ScoutApm::Middleware
          ScoutApm::Agent.instance.install
        RUBY
        report: "ScoutApm::Rack.transaction(mark, env) { ScoutApm::Error.capture(mark) }",
        state: "ScoutApm::Agent.instance.background_worker_running?"
      ),
      "newrelic" => Program.new(
        gems: %w[newrelic-ruby-agent],
        boot: <<~'RUBY',
          ENV.update("NEW_RELIC_LICENSE_KEY" => "0" * 40, "NEW_RELIC_APP_NAME" => "app", "NEW_RELIC_HOST" => "localhost",
                     "NEW_RELIC_PORT" => PORT, "NEW_RELIC_CA_BUNDLE_PATH" => CERTIFICATE,
                     "NEW_RELIC_LOG_FILE_PATH" => Dir.pwd + "/")
          require "newrelic_rpm"
          STARTED_IN_MOLD = NewRelic::Agent.agent.started?
        RUBY
        report: 'NewRelic::Agent.set_transaction_name(mark); NewRelic::Agent.record_custom_event("Mark", mark: mark)',
        state: "NewRelic::Agent.config[:dispatcher], STARTED_IN_MOLD, NewRelic::Agent.agent.started?"
      ),
      "datadog" => Program.new(
        gems: %w[dd-trace-rb],
        boot: <<~'RUBY',
          ENV["DD_TRACE_AGENT_URL"] = COLLECTOR
          $LOADED_FEATURES.push("libdatadog.rb") # its compiled library is not tried
          module Libdatadog
            VERSION = "40.0.0"
            def self.path_to_crashtracking_receiver_binary = nil
            def self.ld_library_path = nil
          end
          require "datadog"
          Datadog.configure do |it|
            it.logger.instance = Logger.new("datadog.log")
            it.tracing.instrument(:rack)
          end
          use Datadog::Tracing::Contrib::Rack::TraceMiddleware
        RUBY
        report: "Datadog::Tracing.active_span.resource = mark",
        state: "Datadog.configuration.service"
      ),
      "elastic" => Program.new(
        gems: %w[apm-agent-ruby http llhttp/mri http-cookie domain_name],
        boot: <<~'RUBY',
          require "elastic_apm"
          ElasticAPM.start(service_name: "app", server_url: COLLECTOR, log_path: "elastic.log", cloud_provider: "none")
          use ElasticAPM::Middleware
        RUBY
        report: "ElasticAPM.set_label(:mark, mark)",
        state: "ElasticAPM.running?"
      ),
      **ERROR_TRACKERS, **STAND_INS
    }.freeze
  end
end
