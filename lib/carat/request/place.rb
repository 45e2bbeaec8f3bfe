# frozen_string_literal: true

require_relative "../application_errors"
require_relative "../native"
require_relative "../response/callbacks"
require_relative "../response/delivery"
require_relative "../response/error_log"

module Carat
  module Request
    # Where a lane works on one request at a time: takes it from the edge, calls the application, answers; again.
    class Place
      SORRY = [500, { "content-type" => "text/plain" }.freeze, ["Internal Server Error\n"].freeze].freeze

      # Errors that are the client's doing: the access log tells of them.
      CLIENT_ERRORS = [Native::ClientGone, IncompleteBody].freeze

      # How many requests it has answered.
      attr_reader :served

      # `app` is a Rack application, `lane` a Native::Lane, `errors` the stream for error reports; the block is called
      # when the application did what the worker should not outlive.
      def initialize(app, lane, errors: $stderr, spool_dir: "/var/tmp", &fatal)
        @app = app
        @native = Native::Place.new(lane)
        @fatal = fatal
        @log = Response::ErrorLog.new(errors)
        @answer = Response::Delivery.new(@native, spool_dir)
        @callbacks = Response::Callbacks.new(@native, @log)
        @served = 0
      end

      # Serves until the edge sends no more. Raises Native::LinkError when the edge is not understood.
      def run
        while (env = take)
          serve(env)
        end
      ensure
        leave
      end

      # The number by which the edge knows the request that it works on; nil between two of them.
      def request_id
        @native.id
      end

      # A request never vanishes: Thread#kill may leave one behind.
      def leave
        give_up_answer
        @native.close
      end

      private

      def take
        @native.take
      end

      # SystemExit, NoMemoryError and the like end the worker, but not before what it was given is answered: the edge is
      # asked for an orderly end, and this lane goes on until that comes.
      def serve(env)
        call(env)
        @served += 1
      rescue Exception => e # rubocop:disable Lint/RescueException
        raise if e.is_a?(Native::LinkError)

        fail_request(env, e)
        @fatal&.call
      end

      def call(env)
        status, headers, body = @app.call(env)
        @native.answer(status, headers, body) || @answer.deliver(env, status, headers, body)
        @callbacks.run(env, status, headers, nil)
      rescue Native::LinkError
        raise
      rescue *APPLICATION_ERRORS => e
        fail_request(env, e)
        @callbacks.run(env, status, headers, e)
      end

      def fail_request(env, error)
        give_up_answer
        @log.add(error, env) unless CLIENT_ERRORS.any? { |type| error.is_a?(type) }
      end

      # What has been answered cannot be taken back, but it can be left incomplete.
      def give_up_answer
        @native.pending? ? @native.answer(*SORRY) : @native.abort_stream
      end
    end
  end
end
