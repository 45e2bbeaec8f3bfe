# frozen_string_literal: true

require "io/wait"
require "tempfile"
require "carat/native"
require "carat/warmup"
require "carat/warmup/warmup_request"
require_relative "../in_process/endpoints"
require_relative "../lab_error"
require_relative "../ledger"
require_relative "../processes/process_report"
require_relative "../processes/process_sample"

module Carat
  module Lab
    module Weigh
      # Forks a worker from this process, as a mold does, and looks at which memory it shares: after the fork, and after
      # requests. Meanwhile this process waits and writes nothing. Each account's part of each page is noted before the
      # fork.
      class Sharing
        # Requests of the load.
        REQUESTS = 200

        # Seconds for all of them; the worker has some more to hand over its results.
        SECONDS = 10.0
        REPORT_TIMEOUT = 60

        # The number of the worker, for hooks.
        WORKER = 1
        private_constant :REPORT_TIMEOUT, :WORKER

        # `app` is the Rack application that this process has loaded, and `target` the path of the load; warnings go to
        # the ProcessLog `log`; `report` is a ProcessReport. The Ledger records, with blocks.
        def initialize(app, target, configuration, log, report)
          @report = report
          @configuration = configuration
          @log = log
          @app = app
          @endpoints = InProcess::Endpoints.new(app, configuration, log)
          @target = target
        end

        # Ends the recording. Returns a Hash for JSON: `warm_up`, the account of what precedes the fork, and samples for
        # `after_fork` and `after_load`, or a `problem`.
        def measure
          @report.step("the memory of a worker")
          warm_up = Ledger.open
          prepare
          @pages, *dumps = Array.new(3) { Tempfile.create.tap { |file| File.unlink(file.path) } }
          Ledger.stop
          Ledger.write_pages(@pages.fileno)
          text = fork_worker(dumps)
          { warm_up:, target: @target, **Marshal.load(text) }.tap do |result| # rubocop:disable Security/MarshalLoad
            %i[after_fork after_load].zip(dumps) { |name, dump| complete(result[name], dump) }
          end
        rescue LabError => e
          { warm_up:, target: @target, problem: e.message }
        end

        private

        # As a mold does. Compaction moves objects away from their accounts, so they are held.
        def prepare
          hooks(:on_mold_boot)
          deadline = now + @configuration[:boot_timeout]
          requests = @configuration[:warm_up].map do |target|
            Warmup::WarmupRequest.new(@app, @endpoints.template, target, log: @log)
          end
          Warmup::Compilation.run(requests.select { |request| request.run(deadline:) }, deadline:)
          held = Ledger.hold
          Warmup.run(log: @log)
          Ledger.rebook(held)
          held.clear
        end

        # Returns what the worker writes.
        def fork_worker(dumps)
          reader, writer = IO.pipe.each(&:binmode)
          GC.start
          Native.trim_memory
          hooks(:before_fork, WORKER)
          pid = fork { work(writer, dumps) }
          writer.close
          finished = reader.wait_readable(SECONDS + REPORT_TIMEOUT)
          Process.kill(:KILL, pid) unless finished
          Process.wait(pid)
          text = reader.read
          raise LabError, "carat: the forked worker ended, or GET #{@target} did not" if text.empty?

          text
        end

        def work(writer, dumps)
          Native.die_with_parent
          result = { after_fork: sample(dumps.first) }
          %i[after_fork on_worker_boot].each { |name| hooks(name, WORKER) }
          result[:requests] = load
          result[:after_load] = sample(dumps.last)
        rescue LabError => e
          result[:problem] = e.message
        ensure
          writer.write(Marshal.dump(result)) if result
          ProcessReport.leave
        end

        # Returns the number of requests.
        def load
          endpoint = @endpoints.fetch(@target)
          deadline = now + SECONDS
          (1..REQUESTS).find do |number|
            endpoint.call
            @report.advance(number.fdiv(REQUESTS))
            number == REQUESTS || now > deadline
          end
        end

        def sample(dump)
          Ledger.dump_pages(dump.fileno)
          ProcessSample.new.then { |taken| { pss: taken.pss, pss_of_files: taken.pss_of_files } }
        end

        def complete(sample, dump)
          return unless sample

          @pages.rewind
          dump.rewind
          sample[:accounts] = Ledger.shares(@pages.fileno, dump.fileno)
        end

        def hooks(...)
          @configuration.hooks.run(...)
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
