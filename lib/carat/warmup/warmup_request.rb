# frozen_string_literal: true

require_relative "../response/error_report"

module Carat
  module Warmup
    # A request that the mold makes of the application before it forks, so that what the first requests leave behind
    # (call caches, compiled templates, schema caches) is there for all workers, and is shared.
    class WarmupRequest
      HOST = "localhost"
      PORT = "80"
      PROTOCOL = "HTTP/1.1"
      # A page that asks for more than the answer is left to the first client.
      GOOD = (200..399)
      # So long a request that is ended has for what it does in `ensure`.
      GRACE_SECONDS = 1
      private_constant :HOST, :PORT, :PROTOCOL, :GOOD, :GRACE_SECONDS

      # `template` is an EnvTemplate, `target` a path with or without a query; `log` is where words for the operator go.
      def initialize(app, template, target, log: $stderr)
        @app = app
        @template = template.to_h
        @target = target
        @log = log
      end

      # Runs the request to its end, or until `deadline` of the monotonic clock, in a thread of its own, as a worker
      # does: an application that ends its thread does not end the mold. What goes wrong is told, and is no reason not
      # to serve.
      def run(deadline:)
        thread = Thread.new { attempt }
        return stop(thread) unless thread.join([deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC), 0].max)

        tell("the application has ended its thread") unless thread.value
      end

      private

      # Returns true.
      def attempt
        status, = call(environment)
        tell("it answered #{status}") unless GOOD.cover?(status.to_i)
        true
      rescue Exception => e # rubocop:disable Lint/RescueException -- `exit` is no reason not to serve, either
        tell(Response::ErrorReport.new(e).to_s.chomp)
        true
      end

      def stop(thread)
        place = thread.backtrace&.first
        tell(["it is not done in time (boot_timeout)", *place].join(", at "))
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

      # Like the environment that a lane makes (crates/carat-native/src/env.rs) of a request without headers but Host.
      def environment
        path, query = @target.split("?", 2)
        head = { "REQUEST_METHOD" => "GET", "PATH_INFO" => path, "REQUEST_PATH" => path, "QUERY_STRING" => query.to_s,
                 "REQUEST_URI" => @target, "SERVER_NAME" => HOST, "SERVER_PORT" => PORT, "REMOTE_ADDR" => "127.0.0.1",
                 "SERVER_PROTOCOL" => PROTOCOL, "HTTP_VERSION" => PROTOCOL, "HTTP_HOST" => HOST }
        head.transform_values! { |text| String.new(text, encoding: Encoding::BINARY) }
        lists = @template[:lists].to_h { |name| [name, []] }
        @template[:constants].merge(head, lists, "rack.input" => @template[:memory_input].new("".b))
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

      def tell(words)
        @log.write("carat: mold: warm_up #{@target}: #{words}\n")
      end

      # The stream that a streaming body of Rack 3 is called with: takes everything and keeps nothing.
      class Sink
        def write(*parts)
          parts.sum { |part| part.to_s.bytesize }
        end

        def <<(part)
          write(part)
          self
        end

        def read(*)
          nil
        end

        def flush
          self
        end

        def close(*)
          @closed = true
          nil
        end
        alias close_read close
        alias close_write close

        def closed?
          @closed || false
        end
      end
      private_constant :Sink
    end
  end
end
