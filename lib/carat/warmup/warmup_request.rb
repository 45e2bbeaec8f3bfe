# frozen_string_literal: true

require "uri"
require_relative "../log/process_log"
require_relative "local_request"

module Carat
  module Warmup
    # A request to the application in the mold. A first request fills call caches, compiles templates, and loads
    # schemas; all workers then share the result.
    class WarmupRequest
      # The statuses that need no warning.
      GOOD = (200..399)
      REDIRECTS = (300..399)
      # The seconds that the `ensure` blocks of an interrupted request may take.
      GRACE_SECONDS = 1
      private_constant :GOOD, :REDIRECTS, :GRACE_SECONDS

      # `template` is an EnvTemplate, and `target` a path with an optional query. The request comes over HTTPS if
      # `https`. Warnings go to the ProcessLog `log`.
      def initialize(app, template, target, log:, https: false)
        @make = ->(scheme) { LocalRequest.new(app, template, target, https: scheme) }
        @https = https
        @request = @make.call(https)
        @target = target
        @log = log
      end

      # Runs the request, and interrupts it at `deadline` of the monotonic clock. The request has a thread of its own,
      # as in a worker, so that an application that ends its thread does not end the mold. Failures are logged, and do
      # not keep the server from serving. Returns whether the application has responded as it should.
      def run(deadline:)
        thread = Thread.new { attempt }
        return stop(thread) unless thread.join([deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC), 0].max)

        result = thread.value
        warn("the application has ended its thread") if result.nil?
        result == true
      end

      private

      # Returns whether the status is good, or nil if the application ends the thread.
      def attempt
        response = @request.call
        response = insist if !@https && detour(response) == :https
        return warn(not_reached(response)) if detour(response)

        GOOD.cover?(response.status) || warn("responded with #{response.status}#{remedy(response.status)}")
      rescue Exception => e # rubocop:disable Lint/RescueException -- not even `exit` keeps the server from serving
        @log.failure("warm_up #{@target}", e)
        false
      end

      # Repeats the request over HTTPS, because the application redirects there. Further requests use HTTPS, too.
      def insist
        @https = true
        @request = @make.call(true)
        @request.call
      end

      # Returns where a redirect leads that is not the application's own: :https, :elsewhere, or nil. It must have the
      # same path: a redirect to another path, or to another query at the same place, such as for a locale, is the
      # application's own choice.
      def detour(response)
        return unless REDIRECTS.cover?(response.status) && response.location

        uri = URI.parse(response.location)
        path, query = @target.split("?", 2)
        return if uri.host.nil? || uri.path != path

        place = "#{uri.scheme}://#{uri.host}"
        return if place == "#{@https ? "https" : "http"}://localhost" && uri.query != query

        place == "https://localhost" ? :https : :elsewhere
      rescue URI::InvalidURIError
        nil
      end

      def not_reached(response)
        "responded with #{response.status} to #{response.location}, so it did not reach the application: exempt the " \
          "path from that redirect (in Rails, by config.ssl_options)"
      end

      def remedy(status)
        return unless status == 403

        ": the application may refuse the host localhost (in Rails, exempt the path by config.host_authorization)"
      end

      def stop(thread)
        place = thread.backtrace&.first
        warn(["not finished in time (boot_timeout)", *place].join(", at "))
        thread.kill.join(GRACE_SECONDS)
        false
      end

      def warn(message)
        @log.warn("warm_up #{@target}: #{message}")
        false
      end
    end
  end
end
