# frozen_string_literal: true

require_relative "../../../cli/units"
require_relative "../../../cli/machine_limits"
require_relative "../../../log/counted"
require_relative "../../../parts"
require_relative "../finding"
require_relative "memory_limit"
require_relative "mold_memory"

module Carat
  module CLI
    class Doctor
      # Checks whether a restart has memory for a second mold, and what has to end to make room for it: see
      # docs/releases.md.
      class RestartRoom
        # The bytes that the edge takes without clients.
        EDGE = 6 << 20
        # The share of `memory` that clients may take by default.
        CLIENTS = 0.1
        # The bounds of the bytes that clients may take by default.
        CLIENT_BOUNDS = (8 << 20)..(256 << 20)
        private_constant :EDGE, :CLIENTS, :CLIENT_BOUNDS

        # `limits` are MachineLimits, or nil when they cannot be read. The block returns the MoldMemory of the
        # application for so many bytes of memory, or nil when it cannot be loaded.
        def initialize(configuration, limits: MachineLimits.read, &measure)
          @configuration = configuration
          limit = MemoryLimit.new(configuration, limits:)
          @memory = limit.bytes
          @whole = limit.available
          @measure = measure || ->(memory) { MoldMemory.measured(configuration, memory:) }
        end

        # Returns the Finding.
        def finding
          @mold = @measure.call(@memory) if @memory
          return Finding.warning("restart", "unknown: the application cannot be loaded") unless @mold

          words = step or return Finding.warning("restart", "#{molds} do not fit; #{remedy}")
          Finding.ok("restart", "#{molds} fit #{words}")
        end

        private

        def molds
          ready, peak = @mold.to_a.map { |bytes| Units.bytes(bytes) }
          "two molds of #{ready}#{", one at #{peak} for a moment," if peak != ready}"
        end

        # Returns the step of a restart at which two molds fit, as words, or nil.
        def step
          fitting = room.fdiv(each).floor
          workers = fitting - processes
          return "beside #{Log::Counted.of(wanted, "worker")}#{and_processes}" if workers >= wanted
          return "once workers have ended, down to #{workers}" if workers.positive?
          return "once processes have ended: they start again after it" if processes.positive? && fitting.positive?

          "once the last worker has ended: requests wait in the queue meanwhile" if hold? && !room.negative?
        end

        def and_processes
          " and #{processes} further process#{"es" if processes > 1}" if processes.positive?
        end

        def remedy
          missing = Units.bytes((hold? ? 0 : each) - room)
          option = ", or allow restart_hold" unless hold? || room.negative?
          "raise the container's limit or memory by #{missing}#{option}"
        end

        def hold? = @configuration[:restart_hold]

        # The bytes that remain beside two molds. The peak of the new one only has to fit the container or the machine:
        # see crates/carat-policy/src/memory/memory_budget.rs.
        def room
          [@memory - @mold.ready, @whole - @mold.peak].min - @mold.ready - clients - lent - EDGE
        end

        # The bytes that the server reserves for parts such as the cache.
        def lent
          Parts.select(&:memory_name).sum { |part| @configuration[part.class.key].to_i }
        end

        def clients
          chosen = @configuration[:client_memory]
          case chosen
          when nil then (@memory * CLIENTS).to_i.clamp(CLIENT_BOUNDS)
          when Integer then chosen
          else (@memory * chosen.to_f / 100).to_i
          end
        end

        # The bytes that the server assumes for a worker, or for a further process, before it has measured any.
        def each
          @mold.ready / 2
        end

        def wanted
          workers = @configuration[:workers]
          workers.is_a?(Range) ? workers.begin : 1
        end

        # How many further processes of the application run, without the processes that they fork, whose number is
        # unknown.
        def processes
          @configuration.processes.sum { |declaration| declaration.count.begin }
        end
      end
    end
  end
end
