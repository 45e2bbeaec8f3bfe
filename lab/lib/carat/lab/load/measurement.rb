# frozen_string_literal: true

require "uri"
require_relative "../interrupts"
require_relative "../processes/process_tree"
require_relative "listening_processes"
require_relative "plan"
require_relative "report"
require_relative "server"
require_relative "trial"
require_relative "usage"

module Carat
  module Lab
    module Load
      # Loads a server, and watches its processes meanwhile.
      class Measurement
        # `generator` is a Generator, `plan` a Plan.
        def initialize(generator, plan, progress)
          @generator = generator
          @plan = plan
          @progress = progress
        end

        # Returns a Report about a server that is started by a CaratProgram, and stopped. Raises LabError. An Interrupt
        # ends the load; the report then says what is known.
        def of_program(program)
          interruptible do
            @progress.step("booting the application")
            Server.open(program) { |server| load(server.url, server.tree) }
          end
        end

        # Returns a Report about a server that runs already. Raises LabError.
        def of_url(url)
          interruptible { load(url, *find(URI(url))) }
        end

        private

        def interruptible(&)
          Interrupts.raising(&)
          report(interrupted: @traffic.interrupted)
        rescue Interrupt
          report(interrupted: true)
        ensure
          @progress.clear
        end

        def load(url, tree, unwatched = nil)
          @url = url
          @unwatched = unwatched
          target = url + @plan.path
          Trial.check(target)
          @progress.step("warm-up")
          raise Interrupt if run(target, Plan::WARM_UP_SECONDS).interrupted

          tree&.await_rest
          @usage = Usage.new(tree, @plan.seconds) if tree
          @progress.step("load")
          began = now
          @traffic = run(target, @plan.seconds) { |seconds| watch(seconds) }
          # The generator says how long it sent requests, and ends a little later.
          @usage&.finish(now - began)
        end

        def run(target, seconds, &block)
          @generator.run(target, seconds:, connections: @plan.connections, &block)
        end

        def watch(seconds)
          @usage&.tick(seconds)
          @progress.advance([seconds / @plan.seconds, 1].min)
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end

        # The ProcessTree of the server, or nil and why there is none.
        def find(uri)
          return nil, "the server runs on another machine" unless ListeningProcesses.local?(uri.hostname)

          pids = ListeningProcesses.of(uri.port)
          return nil, "no process that this user may look at listens on port #{uri.port}" if pids.empty?

          ProcessTree.new(*pids)
        end

        def report(interrupted:)
          Report.new(url: @url, plan: @plan, generator: @generator, traffic: @traffic, usage: @usage,
                     unwatched: @unwatched, interrupted:)
        end
      end
    end
  end
end
