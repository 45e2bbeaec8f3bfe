# frozen_string_literal: true

require_relative "../leak/server"

module Carat
  module Lab
    module Profile
      # A profile of paths of an application that no server runs: of one worker, which gets requests for them in turn.
      class Endpoint
        # The first requests fill caches.
        WARM_UP = 50

        # Seconds for that, for slow paths.
        WARM_UP_SECONDS = 10

        # Bytes between two samples: nobody waits for these requests, so there may be more samples.
        SAMPLING_BYTES = 64 * 1024

        # The server has one worker.
        WORKER = 1
        private_constant :WARM_UP, :WARM_UP_SECONDS, :WORKER

        # `words` are those of Flags#words, `targets` the paths.
        def initialize(words, targets, progress)
          @words = words
          @targets = targets.dup
          @progress = progress
        end

        # Boots the server and warms it up. Yields the path of its control socket and the number of its worker, and the
        # result of the block is returned; meanwhile, `request` makes requests. Raises LabError.
        def open
          @progress.step("boot")
          Leak::Server.open(@words) do |server|
            @server = server
            warm_up
            @progress.step("profile")
            yield server.control_socket, WORKER
          end
        ensure
          @progress.clear
        end

        # Makes one request.
        def request
          @server.request(@targets, 1)
        end

        private

        def warm_up
          @progress.step("warm-up")
          deadline = now + WARM_UP_SECONDS
          count = 0
          while count < @targets.size || (count < WARM_UP && now < deadline)
            request
            @progress.advance((count += 1).fdiv(WARM_UP))
          end
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
