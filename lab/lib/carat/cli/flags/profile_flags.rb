# frozen_string_literal: true

require "carat/config/config_error"
require "carat/config/sources/flags"
require "carat/config/type"
require_relative "output_file"
require_relative "request_flags"

module Carat
  module CLI
    # The flags of `carat profile`.
    module ProfileFlags
      include RequestFlags

      SECONDS = 10

      # Percent of the whole below which a branch of the tree is left out.
      CUT = 1.0
      CUTS = 0..100
      TIMES = 1..600
      WORKERS = 1..4_294_967_295
      SAMPLING = 1024..(1 << 40)

      # Seconds, as `--sampling` of a clock.
      PERIOD = 0.001..1
      private_constant :SECONDS, :CUT, :CUTS, :TIMES, :WORKERS, :SAMPLING, :PERIOD

      private

      def flags
        @seconds = SECONDS
        @cut = CUT
        @clocks = []
        Config::Flags.new(help: "carat profile --help") do |parser|
          define_subject(parser)
          define_clocks(parser)
          define_report(parser)
        end
      end

      def define_subject(parser)
        parser.separator("Measurement:")
        define_path(parser)
        parser.on("--worker N", "Instead, a worker of a running server") do |text|
          @worker = number("--worker", text, WORKERS)
        end
        parser.on("--pid PID", "That server, by its process id") { |text| @pid = text }
        parser.on("--seconds N", "For so long [#{SECONDS}]") { |text| @seconds = number("--seconds", text, TIMES) }
        parser.on("--sampling SIZE", "Bytes [64KB, a worker 512KB] or time") { |text| sampling(text) }
        parser.separator("")
      end

      # One after the other: allocations that are watched take time.
      def define_clocks(parser)
        parser.separator("Subject:")
        parser.on("--cpu", "Where the CPU's time goes, not memory") { @clocks |= [:cpu] }
        parser.on("--wall", "Where threads are, also those that wait") { @clocks |= [:wall] }
        parser.on("--gvl", "Where they wait for Ruby's lock, the GVL") { @clocks |= [:gvl] }
        parser.on("--allocations", "After these, memory as well") { @allocations = true }
        parser.separator("")
      end

      def define_report(parser)
        parser.separator("Report:")
        parser.on("--live", "Only memory that is not freed [all]") { @live = true }
        parser.on("--objects", "Numbers of objects [bytes]") { @objects = true }
        parser.on("--invert", "From functions to their callers") { @inverted = true }
        parser.on("--cut PERCENT", "Hide lighter branches [#{CUT}]") { |text| @cut = percent(text) }
        parser.on("--json", "Print JSON, sizes in bytes") { @format = :json }
        OutputFile.flag(parser) { |file| @html = file }
        OutputFile.flag(parser, "--pprof", "Also write a file for go tool pprof") { |file| @pprof = file }
        OutputFile.flag(parser, "--speedscope", "Also write a file for speedscope") { |file| @speedscope = file }
        parser.on("--collapsed", "Print folded stacks for flame graphs") { @format = :collapsed }
        parser.separator("")
      end

      def percent(text)
        percent = Float(text, exception: false)
        return percent if percent && CUTS.cover?(percent)

        raise Config::ConfigError, "--cut: #{text.inspect} is not a number from 0 to 100"
      end

      def sampling(text)
        return @sampling_bytes = sampled(text, :bytes, SAMPLING, "size from 1KB to 1TB") unless text.end_with?("s")

        @period = sampled(text, :seconds, PERIOD, "time from 1ms to 1s") * 1000
      end

      def sampled(text, type, range, words)
        value = Config::InvalidValue.at("--sampling") { Config::Type.build(type).parse(text) }
        return value if range.cover?(value)

        raise Config::ConfigError, "--sampling: #{text.inspect} is not a #{words}"
      end
    end
  end
end
