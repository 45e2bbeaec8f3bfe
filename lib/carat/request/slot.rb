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
    # Serves the requests of a lane one after another: takes a request, calls the application, responds.
    class Slot
      # Errors that clients cause. They are not logged here, because the access log has them.
      CLIENT_ERRORS = [Native::ClientGone, IncompleteBody].freeze

      # How many requests the slot has responded to.
      attr_reader :served

      # `app` is a Rack application, `lane` a Native::Lane, `log` a ProcessLog. `early_hints` says whether the
      # application may send early hints, `tunnels` whether it may take over connections, and `shows_errors` whether
      # clients may read its errors. The block is called after an error after which the worker has to end.
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

      # Serves requests until the edge sends no more. Raises Native::LinkError when the edge sends something unexpected.
      def run
        while (env = take)
          serve(env)
        end
      ensure
        leave
      end

      # The id by which the edge knows the current request, or nil between two requests.
      def request_id
        @native.id
      end

      # Closes the slot. If Thread#kill has interrupted a request, responds to it first.
      def leave
        give_up_response
        @native.close
      end

      private

      def take
        @native.take
      end

      # Serves one request. SystemExit, NoMemoryError and the like end the worker, but not at once: the edge is asked to
      # drain the worker, and this lane serves until it is drained.
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

      # Ends a process that the application forked in the middle of a request, and in which it returned from the
      # request. Only the parent can respond. The at_exit blocks do not run, because they are the parent's.
      def end_fork
        @log.with(pid: Process.pid).warn("a process that the application forked returned from its request; " \
                                         "its parent responds, and it ends (use a block, or exit!)")
        exit!(1)
      end

      # The text about the error that a client may read, as an Array of at most one String.
      def report(error)
        @shows_errors ? [Log::Escape.shortened(Log::DeveloperReport.new(error).to_s)] : []
      end

      # Responds with an error, or leaves a response that has begun incomplete: it cannot be replaced any more.
      def give_up_response(report = [])
        @native.pending? ? @native.fail(report) : @native.abort_stream
      end
    end
  end
end
