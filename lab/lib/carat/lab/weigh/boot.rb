# frozen_string_literal: true

require "carat/config/configuration"
require "carat/log/process_log"
require "carat/processes/boot_failure"
require "carat/processes/measures/jit"
require "carat/warmup/application"
require "carat/warmup/eager_loading"
require_relative "../ledger"
require_relative "../processes/process_sample"
require_relative "gem_names"
require_relative "require_trace"
require_relative "sharing"

module Carat
  module Lab
    module Weigh
      # The program of the process that is weighed: boots the application as a mold does, and writes what it took.
      class Boot
        # Runs in a new process. `target` is the path of a rackup file or a Gemfile; `report` is a ProcessReport.
        def self.start(report, kind, target, path, *words)
          report.result(new(report, kind, target, path, words).run)
        end

        # `kind` is "rackup" or "gemfile"; `path` is the one to request; `words` are those of Flags#words.
        def initialize(report, kind, target, path, words)
          @report = report
          @kind = kind
          @target = target
          @path = path
          @words = words
          @trace = RequireTrace.new
          @interrupted = false
        end

        # Returns a Hash for JSON: `error`, or what Report reads.
        def run
          prepare
          return { error: "the allocator does not count" } unless Ledger.start

          before = sample
          seconds = timed { load_until_interrupted }
          after = sample
          own = Ledger.own_bytes
          accounts = Ledger.accounts
          sharing = measure_sharing # first: the worker would share what the next line makes
          { seconds:, before:, after:, own:, accounts:, calls:, sharing:, jit: Processes::JIT.name,
            interrupted: @interrupted }
        rescue Exception => e # rubocop:disable Lint/RescueException -- the command reports whatever it is
          { error: Processes::BootFailure.new(e, file: @target).to_s }
        end

        private

        # Everything that Carat itself needs, so that it does not count.
        def prepare
          @configuration = Config::Configuration.from_words(@words) if @kind == "rackup"
          @log = Log::ProcessLog.new(mold: true)
          ENV["BUNDLE_GEMFILE"] = File.expand_path(@target) if @kind == "gemfile"
          @trace.install
        end

        # What has been loaded until then is worth a report.
        def load_until_interrupted
          load
        rescue Interrupt
          @interrupted = true
        end

        def load
          return bundle if @kind == "gemfile"

          @app = Processes::JIT.beside(@configuration) { Warmup::Application.load(@target) }
          Warmup::EagerLoading.run(log: @log)
        end

        def bundle
          require "bundler/setup"
          ::Bundler.require
        end

        # Of an application that has been loaded. An interrupt ends the measurement without it.
        def measure_sharing
          Sharing.new(@app, @path, @configuration, @log, @report).measure if @app && !@interrupted
        rescue Interrupt
          @interrupted = true
          nil
        end

        # The parts of the process's memory that Parts compares.
        def sample
          taken = ProcessSample.take
          { heap: taken.heap, **taken.malloc.slice(:allocated, :active), pss: taken.pss, files: taken.pss_of_files,
            code: Processes::JIT.to_h.to_h.fetch(:code, 0),
            young: Ledger.young_bytes, untouched: Ledger.untouched_bytes }
        end

        def timed
          started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
          yield
          Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
        end

        # The traced calls, each with the gem of its file.
        def calls
          names = GemNames.new(File.dirname(File.expand_path(@target)))
          @trace.calls.map do |call|
            file = path(call)
            { number: call.number, file:, gem: names.of(file), outcome: call.outcome }
          end
        end

        def path(call)
          return call.file if call.outcome == :loaded && call.file.start_with?("/")

          ($LOAD_PATH.resolve_feature_path(call.file)&.last if call.outcome == :known) || call.file
        rescue LoadError
          call.file
        end
      end
    end
  end
end
