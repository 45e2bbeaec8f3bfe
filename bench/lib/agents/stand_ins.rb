# frozen_string_literal: true

require_relative "program"

module Bench
  module Agents
    APPSIGNAL = <<~'RUBY'
      require "net/http"
      $LOADED_FEATURES.push("appsignal_extension.rb")
      module Appsignal
        class Extension
          Handle = Struct.new(:action) do
            def set_action(name) = self.action = name
            def complete = Extension.send_action(action)
            def method_missing(*) = nil
            def respond_to_missing?(*) = true
          end
          def self.start = @stopped = false
          def self.stop = @stopped = true
          def self.running_in_container? = true
          def self.start_transaction(*) = Handle.new
          def self.data_map_new = MockData.new
          def self.data_array_new = MockData.new
          def self.send_action(name) = (Net::HTTP.post(URI("#{COLLECTOR}/appsignal"), name.to_s) unless @stopped)
        end
      end
      require "appsignal"
      Appsignal.configure(:production) do |it|
        it.active = true
        it.name = "app"
        it.push_api_key = "key"
        it.logging_endpoint = COLLECTOR
        it.log_path = Dir.pwd
      end
      Appsignal.start
    RUBY

    # Agents whose compiled extensions come from their makers' servers. What stands in for an extension sends each
    # transaction when it ends, and nothing once it has been stopped.
    STAND_INS = {
      "appsignal" => Program.new(
        gems: %w[appsignal-ruby], boot: APPSIGNAL,
        report: "Appsignal.monitor(action: mark) { nil }", state: "Appsignal.active?, Appsignal::Probes.started?"
      ),
      "appsignal-check-ins" => Program.new(
        gems: %w[appsignal-ruby], boot: APPSIGNAL, report: "Appsignal::CheckIn.heartbeat(mark)",
        state: "Appsignal::CheckIn.scheduler.thread&.alive?"
      ),
      "skylight" => Program.new(
        gems: %w[skylight-ruby],
        boot: <<~'RUBY',
          require "active_support/all"
          require "net/http"
          ENV.update("SKYLIGHT_AUTHENTICATION" => "key", "SKYLIGHT_VALIDATION_URL" => "#{COLLECTOR}/validation",
                     "SKYLIGHT_LOG_FILE" => "skylight.log", "SKYLIGHT_DISABLE_AGENT" => "true")
          require "skylight"
          Skylight.instance_variable_set(:@has_native_ext, true)
          class Skylight::Trace
            def self.native_new(*) = allocate
            def native_get_uuid = @id
            def native_get_started_at = 0
            def native_start_span(*) = 1
            def native_span_get_category(*) = "app"
            def uuid=(id)
              @id = id
            end

            def method_missing(name, *) = name.start_with?("native_") ? nil : super
            def respond_to_missing?(name, *) = name.start_with?("native_") || super
          end
          class Skylight::Instrumenter
            def self.native_new(*) = allocate
            def native_start = true
            def native_stop = @stopped = true
            def native_track_desc(*) = true
            def native_submit_trace(trace)
              Net::HTTP.post(URI("#{COLLECTOR}/skylight"), trace.endpoint.to_s) unless @stopped
            end
          end
          Skylight.start!
        RUBY
        report: 'Skylight.trace(mark, "app.rack.request") { nil }', state: "Skylight.started?"
      )
    }.freeze
    private_constant :APPSIGNAL
  end
end
