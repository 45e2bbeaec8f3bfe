# frozen_string_literal: true

require "json"
require "carat/config/config_error"
require "carat/config/options"
require_relative "../lab/profile/endpoint"
require_relative "../lab/profile/export/folded"
require_relative "../lab/profile/export/pprof"
require_relative "../lab/profile/export/speedscope"
require_relative "../lab/profile/session"
require_relative "../lab/profile/time_report"
require_relative "../lab/progress"
require "carat/cli/control/control_client"
require "carat/cli/command_error"
require_relative "flags/profile_flags"
require_relative "profile/kind"
require_relative "profile/page"
require "carat/cli/control/running_server"
require "carat/cli/subcommand"

module Carat
  module CLI
    # `carat profile`.
    class Profile
      include Subcommand
      include ProfileFlags

      # What follows `Usage: carat` in the help.
      USAGE = "profile [--path PATH ... | --worker N] [options] [config.ru]"

      # The sentence in the list of subcommands.
      SUMMARY = "Shows which calls allocate memory, or take time."

      # Measures and prints the profiles. Raises ConfigError, ControlError, and LabError.
      def run
        check_format
        reports = @worker || @pid ? attach : measure_paths
        write_files(reports)
        say(reports.flat_map { |report| format_report(report) }.join(@format ? "\n" : "\n\n"))
      end

      private

      # Of a running server.
      def attach
        refuse_arguments
        raise Config::ConfigError, "--path: a running worker gets its own requests" if @targets.any?

        socket = running_server.path
        progress = Lab::Progress.new($stderr)
        worker = @worker || first_worker(socket)
        progress.step("worker #{worker}")
        profile(socket, worker, { worker: }) do |share|
          progress.advance(share)
          sleep(0.1)
        end
      ensure
        progress&.clear
      end

      # Of an application that no server runs.
      def measure_paths
        progress = Lab::Progress.new($stderr)
        endpoint = Lab::Profile::Endpoint.new(words, targets, progress)
        @sampling_bytes ||= Lab::Profile::Endpoint::SAMPLING_BYTES
        endpoint.open do |socket, worker|
          profile(socket, worker, { paths: targets }) do |share|
            progress.advance(share)
            endpoint.request
          end
        end
      end

      # Of each kind, until somebody interrupts one.
      def profile(socket, worker, source, &block)
        reports = []
        kinds.each do |kind|
          client = ControlClient.new(socket, deadline: @seconds + Lab::Profile::Session::REPLY_SECONDS)
          session = Lab::Profile::Session.new(client, worker:, seconds: @seconds, **kind.order)
          reply = session.call(&block)
          reports << kind.report(reply, source, interrupted: session.interrupted || false)
          break if session.interrupted
        end
        reports
      end

      def kinds
        kinds = []
        kinds << Kind.of_time(@clocks, @period) if @clocks.any?
        kinds << Kind.of_memory(@sampling_bytes) if @allocations || kinds.empty?
        kinds
      end

      # The flags that say which server is meant are those of the other subcommands.
      def running_server
        named = %i[config environment control_socket].select { |name| @flags.settings.key?(name) }
        words = named.flat_map { |name| [Config::Options.fetch(name).flag, @flags.settings.fetch(name).to_s] }
        server = RunningServer.new("profile", @env)
        server.flags.parse([*words, *(["--pid", @pid] if @pid)])
        server
      end

      def first_worker(socket)
        status = JSON.parse(ControlClient.new(socket).get("/status"))
        numbers = status.fetch("processes").filter_map { |process| process["number"] if process["state"] == "serving" }
        numbers.min or raise ControlError, "carat: no worker serves; carat status says what the server does"
      rescue JSON::ParserError, KeyError, NoMethodError, TypeError
        raise ControlError, "carat: #{socket}: it does not send a status"
      end

      # Lines with a stack and a number have one number.
      def check_format
        return unless @format == :collapsed && @clocks.size + (@allocations ? 1 : 0) > 1

        raise Config::ConfigError, "--collapsed: choose one of --cpu, --wall, --gvl, and --allocations"
      end

      def write_files(reports)
        series = reports.flat_map(&:series)
        @html&.write(Page.new(reports, "carat profile", texts(reports).flat_map(&:summary)))
        @pprof&.write(Lab::Profile::Pprof.new(series, reports.sum { |report| report.details[:seconds].to_f }))
        @speedscope&.write(Lab::Profile::Speedscope.new(series, "carat profile"))
      end

      def format_report(report)
        case @format
        when :json then JSON.generate(report.to_h, ascii_only: true)
        when :collapsed then Lab::Profile::Folded.new(folded_series(report))
        else texts([report])
        end
      end

      def folded_series(report)
        report.series.find { |series| measures(report).include?(series.member) }
      end

      def texts(reports)
        reports.flat_map do |report|
          measures(report).map do |measure|
            Kind.text(report).new(report, measure, cut: @cut, inverted: @inverted, out: @out)
          end
        end
      end

      # Those of a Report that were asked for.
      def measures(report)
        report.is_a?(Lab::Profile::TimeReport) ? report.series.map(&:member) : [measure]
      end

      def measure
        :"#{"live_" if @live}#{@objects ? "objects" : "bytes"}"
      end
    end
  end
end
