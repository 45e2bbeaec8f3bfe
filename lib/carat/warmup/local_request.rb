# frozen_string_literal: true

require_relative "../native"

module Carat
  module Warmup
    # A GET request to the application from within its process, with the environment of a worker.
    class LocalRequest
      # The application's response without its body.
      Response = Struct.new(:status, :location)

      # `app` is a Rack application, `template` an EnvTemplate, and `target` a path with an optional query. The request
      # comes over HTTPS if `https`.
      def initialize(app, template, target, https: false)
        @app = app
        @template = template.to_h
        @target = target
        @https = https
      end

      # Makes the request, reads the body to its end, and runs the callables of `rack.after_reply` and
      # `rack.response_finished`. Returns the Response. Raises what the application raises.
      def call
        respond(Native.environment(@template, @target, @https))
      end

      private

      def respond(env)
        status, headers, body = @app.call(env)
        consume(body)
        finish(env, status, headers, nil)
        Response.new(status.to_i, headers.to_h.find { |name, _| name.casecmp?("location") }&.last)
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

      # The stream for a streaming body of Rack 3. It discards what is written.
      class Sink
        # Returns the number of bytes.
        def write(*parts)
          parts.sum { |part| part.to_s.bytesize }
        end

        # Returns the stream.
        def <<(part)
          write(part)
          self
        end

        # Returns nil: the request has no body.
        def read(*)
          nil
        end

        # Returns the stream.
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
