# frozen_string_literal: true

require "support/integration_test"
require_relative "collector"
require_relative "program"

module Bench
  module Agents
    # One agent in one server of one worker, around a refork, three restarts, a scale-down, and a stop. What the
    # requests report right before each is what an agent still holds.
    class Trial
      include Support::Eventually

      REPORTS = 40
      # How many reports may come before the refork.
      REFORK_REPORTS = 400
      # Between these, as agents drop what exceeds their queues.
      PAUSE_SECONDS = 0.01
      # How long an agent that keeps data in files may take to send some.
      LATE_SECONDS = 240
      CONFIG = "threads 1\nrefork after: [30, 1_000_000]\n"
      private_constant :REPORTS, :REFORK_REPORTS, :PAUSE_SECONDS, :LATE_SECONDS, :CONFIG

      def initialize(program, root)
        @program = program
        @certificate = Dir.mktmpdir("carat-agents")
        @collector = Collector.new(@certificate)
        files = { "config.ru" => program.app(root, @collector), "carat.rb" => CONFIG }
        @server = Support::Server.new(files: files, app: files["config.ru"], workers: 1,
                                      args: %w[--control-socket carat.sock])
        @count = 0
      end

      # Returns a Hash.
      def run
        @server.start
        report && sleep(PAUSE_SECONDS) until outcome || @count > REFORK_REPORTS
        3.times { after_reports("restart") }
        carat("scale", "2")
        after_reports("scale", "1")
        await_late if @program.late
        REPORTS.times { report }
        @server.stop
        result
      ensure
        @server.destroy
        FileUtils.remove_entry(@certificate)
      end

      private

      def report
        @state = @server.get("/?#{@count += 1}").body
      end

      def outcome
        @server.log[/did not become the mold .*/] || @server.log[/mold ready gen=[2-9]/]
      end

      def after_reports(*command)
        REPORTS.times { report }
        carat(*command)
      end

      def carat(*command)
        Dir.chdir(@server.directory.path) do
          system(*Support::ServerOptions::COMMAND, *command, "--control-socket", "carat.sock", out: File::NULL)
        end
      end

      def await_late
        deadline = Support::Eventually.now + LATE_SECONDS
        until @collector.seen.key?(@program.late) || Support::Eventually.now > deadline
          report
          sleep 0.5
        end
      end

      def result
        seen = @collector.seen.merge(in_files).reject { |_, marks| marks.empty? }
        doubled = seen.transform_values { |marks| marks.count { |_, times| times > 1 } }
        { sent: @count, delivered: seen.values.flat_map(&:keys).uniq.size, by_kind: seen.transform_values(&:size),
          missing: missing(seen), doubled: doubled.reject { |_, count| count.zero? }, senders: senders,
          refork: outcome, state: @state, warnings: warnings }
      end

      # The numbers of the reports that did not arrive, by kind of data, as ranges.
      def missing(seen)
        seen.transform_values do |marks|
          left = (1..@count).to_a - marks.keys
          left.slice_when { |one, other| other != one + 1 }.map { |run| run.minmax.uniq.join("..") }
        end.reject { |_, ranges| ranges.empty? }
      end

      def in_files
        return {} unless @program.files

        paths = Dir[File.join(@server.directory.path, @program.files)]
        { "files" => paths.flat_map { |path| File.binread(path).scan(/mark-(\d+)-/).flatten.uniq }.map(&:to_i).tally }
      end

      def senders
        @collector.senders.group_by { |(role, _), _| role }.transform_values { |them| them.sum(&:last) }
      end

      def warnings
        @server.log.lines.grep(/did not finish|cannot | error | warn /).map(&:strip).first(5)
      end
    end
  end
end
