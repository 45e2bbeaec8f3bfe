# frozen_string_literal: true

require_relative "../application_errors"

module Carat
  module Response
    # Runs the callables of `rack.after_reply` and `rack.response_finished`.
    class Callbacks
      # `native` is a Native::Slot, `log` a ProcessLog.
      def initialize(native, log)
        @native = native
        @log = log
      end

      # Makes sure that the response is sent, then runs the callables. Their errors are logged, and do not keep the
      # others from running.
      def run(env, status, headers, error)
        after_reply = env["rack.after_reply"]
        finished = env["rack.response_finished"]
        return if idle?(after_reply) && idle?(finished)

        @native.linger
        after_reply&.each { |callable| attempt(env) { callable.call } }
        finished&.reverse_each { |callable| attempt(env) { callable.call(env, status, headers, error) } }
      end

      private

      def idle?(list)
        list.nil? || list.empty?
      end

      def attempt(env)
        yield
      rescue *APPLICATION_ERRORS => e
        @log.application_error(e, env)
      end
    end
  end
end
