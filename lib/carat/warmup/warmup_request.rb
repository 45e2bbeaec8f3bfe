# frozen_string_literal: true

require_relative "../native"
require_relative "../log/process_log"

module Carat
  module Warmup
    # A request to the application in the mold. All workers then share what a first request leaves behind: call caches,
    # compiled templates, schema caches.
    class WarmupRequest
      # Statuses that need no warning.
      GOOD = (200..399)
      # How long the `ensure` blocks of an interrupted request may take.
      GRACE_SECONDS = 1
      private_constant :GOOD, :GRACE_SECONDS

      # `template` is an EnvTemplate, `target` a path with an optional query. Warnings go to
      # the ProcessLog `log`.
      def initialize(app, template, target, log:)
        @app = app
        @template = template.to_h
        @target = target
        @log = log
      end

      # Runs the request, until `deadline` of the monotonic clock at most, in a thread of its own as a worker does: an
      # application that ends its thread does not end the mold. Failures are logged, and do not keep the server from
      # serving.
      def run(deadline:)
        thread = Thread.new { attempt }
        return stop(thread) unless thread.join([deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC), 0].max)

        warn("the application has ended its thread") unless thread.value
      end

      private

      # Returns true, unless the application ends the thread.
      def attempt
        status, = call(Native.environment(@template, @target))
        warn("responded with #{status}") unless GOOD.cover?(status.to_i)
        true
      rescue Exception => e # rubocop:disable Lint/RescueException -- not even `exit` keeps the server from serving
        @log.failure("warm_up #{@target}", e)
        true
      end

      def stop(thread)
        place = thread.backtrace&.first
        warn(["not finished in time (boot_timeout)", *place].join(", at "))
        thread.kill.join(GRACE_SECONDS)
      end

      def call(env)
        status, headers, body = @app.call(env)
        consume(body)
        finish(env, status, headers, nil)
        [status, headers]
      rescue StandardError, ScriptError => e
        finish(env, status, headers, e)
        raise
      end

      def consume(body)
        sink = Sink.new
        body.respond_to?(:each) ? body.each { |part| sink << part } : body.call(sink)
      ensure
        body.close if body.respond_to?(:close)
      end

      def finish(env, status, headers, error)
        env["rack.after_reply"]&.each(&:call)
        env["rack.response_finished"]&.reverse_each { |callable| callable.call(env, status, headers, error) }
      end

      def warn(message)
        @log.warn("warm_up #{@target}: #{message}")
      end

      # The stream for a streaming body of Rack 3: discards everything.
      class Sink
        # Returns the number of bytes.
        def write(*parts)
          parts.sum { |part| part.to_s.bytesize }
        end

        # Returns itself.
        def <<(part)
          write(part)
          self
        end

        # Returns nil: the request has no body.
        def read(*)
          nil
        end

        # Returns itself.
        def flush
          self
        end

        # Returns nil.
        def close(*)
          @closed = true
          nil
        end
        alias close_read close
        alias close_write close

        # Whether the body has closed the stream.
        def closed?
          @closed || false
        end
      end
      private_constant :Sink
    end
  end
end
