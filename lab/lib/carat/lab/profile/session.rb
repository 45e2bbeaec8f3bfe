# frozen_string_literal: true

require "json"
require "uri"
require_relative "../interrupts"
require_relative "../lab_error"

module Carat
  module Lab
    module Profile
      # A profile of one worker, which a server takes for as long as somebody waits for it.
      class Session
        # How long a server may take to reply, beyond the time of the profile.
        REPLY_SECONDS = 40

        # Seconds between two looks at the clock.
        STEP = 0.1
        private_constant :STEP

        # Whether Ctrl-C has ended the profile.
        attr_reader :interrupted

        # `client` has a method `post`, which takes a target and returns the body of the response. Without a number of
        # bytes for which a sample stands, the worker decides.
        def initialize(client, worker:, seconds:, interval: nil, clocks: 0)
          @client = client
          @worker = worker
          @seconds = seconds
          @target = "/profile?#{URI.encode_www_form({ worker:, seconds:, interval:, clocks: }.compact)}"
        end

        # Returns the server's reply, parsed. Meanwhile, yields the share of the time that has passed; the block takes a
        # moment. Ctrl-C ends the profile, and a second one the command. Raises LabError.
        def call(&block)
          request = Thread.new { @client.post(@target) }
          request.report_on_exception = false
          Interrupts.raising { wait(request, &block) }
          parse(request.value)
        rescue Interrupt
          @interrupted = true
          finish
          parse(request.value)
        end

        # Ends the profile before its time.
        def finish
          @client.post("/end-profile?number=#{@worker}")
        end

        private

        def wait(request)
          began = now
          while request.alive?
            share = (now - began) / @seconds
            share < 1 ? yield(share) : request.join(STEP)
          end
        end

        def parse(json)
          JSON.parse(json)
        rescue JSON::ParserError
          raise LabError, "carat: the worker does not send a profile"
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
