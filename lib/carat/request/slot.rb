# frozen_string_literal: true

require_relative "../application_errors"
require_relative "../log/developer_report"
require_relative "../log/escape"
require_relative "../native"
require_relative "../response/callbacks"
require_relative "../response/delivery"
require_relative "early_hints"

module Carat
  module Request
    # Serves one request of a lane after another: takes it, calls the application, responds.
    class Slot
      # Errors that the client causes; the access log has them.
      CLIENT_ERRORS = [Native::ClientGone, IncompleteBody].freeze

      # How many requests the slot has responded to.
      attr_reader :served

      # `app` is a Rack application, `lane` a Native::Lane, `log` a ProcessLog; `early_hints` says whether the
      # application may send them, `tunnels` whether it may take over connections, `shows_errors` whether clients read
      # what it raises. The block is called after an error that the worker must not survive.
      def initialize(app, lane, spool_dir:, log:, early_hints: false, tunnels: true, shows_errors: false, &fatal)
        @app = app
        @early_hints = early_hints
        @tunnels = tunnels
        @shows_errors = shows_errors
        @native = Native::Slot.new(lane)
        @fatal = fatal
        @log = log
        @delivery = Response::Delivery.new(@native, spool_dir)
        @callbacks = Response::Callbacks.new(@native, @log)
        @served = 0
      end

      # Serves until the edge sends no more. Raises Native::LinkError when the edge sends something unexpected.
      def run
        while (env = take)
          serve(env)
        end
      ensure
        leave
      end

      # The id by which the edge knows the current request; nil between two requests.
      def request_id
        @native.id
      end

      # Closes the slot, and first responds to the request that Thread#kill may have left behind.
      def leave
        give_up_response
        @native.close
      end

      private

      def take
        @native.take
      end

      # SystemExit, NoMemoryError and the like end the worker, but only after it has responded to its requests: the edge
      # is asked to drain it, and this lane goes on until then.
      def serve(env)
        call(env)
        @served += 1
      rescue Exception => e # rubocop:disable Lint/RescueException
        raise if e.is_a?(Native::LinkError)

        end_fork if e.is_a?(Native::Forked)
        fail_request(env, e)
        @fatal&.call
      end

      def call(env)
        env["rack.early_hints"] = EarlyHints.new(@native) if @early_hints
        without_hijack(env) unless @tunnels
        status, headers, body = @app.call(env)
        @native.respond(status, headers, body) || @delivery.deliver(env, status, headers, body)
        @callbacks.run(env, status, headers, nil) if Native.callables?(env)
      rescue Native::LinkError
        raise
      rescue *APPLICATION_ERRORS => e
        fail_request(env, e)
        @callbacks.run(env, status, headers, e)
      end

      def without_hijack(env)
        env["rack.hijack?"] = false
        env.delete("rack.hijack")
      end

      def fail_request(env, error)
        give_up_response(report(error))
        @log.application_error(error, env) unless CLIENT_ERRORS.any? { |type| error.is_a?(type) }
      end

      # The application forked this process in the middle of a request, and returned from the request in both
      # processes: only the parent can respond. Handlers of at_exit are the parent's.
      def end_fork
        @log.with(pid: Process.pid).warn("a process that the application forked returned from its request; " \
                                         "its parent responds, and it ends (use a block, or exit!)")
        exit!(1)
      end

      # What a client may read about the error, as an Array of at most one String.
      def report(error)
        @shows_errors ? [Log::Escape.shortened(Log::DeveloperReport.new(error).to_s)] : []
      end

      # A response that has begun cannot be replaced, but it can be left incomplete.
      def give_up_response(report = [])
        @native.pending? ? @native.fail(report) : @native.abort_stream
      end
    end
  end
end
