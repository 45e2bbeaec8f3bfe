# frozen_string_literal: true

require_relative "program"

module Bench
  module Agents
    # Agents that send errors, each by a thread of its own.
    ERROR_TRACKERS = {
      "bugsnag" => Program.new(
        gems: %w[bugsnag-ruby],
        boot: <<~'RUBY',
          require "bugsnag"
          Bugsnag.configure do |it|
            it.api_key = "0" * 32
            it.set_endpoints("#{COLLECTOR}/notify", "#{COLLECTOR}/sessions")
            it.logger = Logger.new(IO::NULL)
            it.enabled_automatic_breadcrumb_types = [] # they repeat earlier reports
          end
          use Bugsnag::Rack
        RUBY
        report: "Bugsnag.notify(RuntimeError.new(mark))"
      ),
      "airbrake" => Program.new(
        gems: %w[airbrake airbrake-ruby rbtree3],
        boot: <<~'RUBY',
          require "airbrake"
          Airbrake.configure do |it|
            it.project_id = 1
            it.project_key = "key"
            it.environment = "production"
            it.error_host = it.apm_host = it.remote_config_host = COLLECTOR
          end
          use Airbrake::Rack::Middleware
        RUBY
        report: <<~'RUBY'
          Airbrake.notify(mark)
          Airbrake.notify_request(method: "GET", route: mark, status_code: 200, timing: 1)
        RUBY
      )
    }.freeze
  end
end
