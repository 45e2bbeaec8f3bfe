# frozen_string_literal: true

require "json"
require_relative "../../../log/counted"
require_relative "../../../cli/command_error"
require_relative "../../../cli/printable"
require_relative "page"
require_relative "screen"
require_relative "tables"

module Carat
  module CLI
    class Top
      # Shows the page again and again, and acts on keys.
      class Session
        # How long a request to the server may take, in seconds. No key has an effect meanwhile. The server gives its
        # workers one second to report backtraces.
        REPLY_TIMEOUT = 3
        KEYS = "up, down, Tab select  s sort  Enter backtrace  k kill  Space stop  q quit"
        STOPPED = "stopped; Space continues"
        private_constant :KEYS, :REPLY_TIMEOUT, :STOPPED

        # `overview` is the server's first report.
        def initialize(server, screen, interval, overview)
          @server = server
          @screen = screen
          @interval = interval
          @tables = Tables.new
          receive(overview)
        end

        # Runs until the user quits, or the terminal is gone.
        def run
          loop do
            draw
            due = @asked + @interval - now
            events = @screen.wait([due, 0].max)
            return if events.any? { |event| obey(event) == :quit }

            refresh if !@is_stopped && now >= @asked + @interval
          end
        end

        private

        def obey(event)
          case event
          when :quit then :quit
          when :stop then @screen.stop
          when :resized then nil
          else answer_or_act(event)
          end
        end

        # Acts on a key. An open question or a shown backtrace gets the key first.
        def answer_or_act(key)
          return answer(key) if @question
          return read_on(key) if @detail

          @message = nil
          case key
          when "q" then :quit
          when "k" then ask_to_kill
          when " " then @is_stopped = !@is_stopped
          when :enter then show_backtrace
          else @tables.obey(key)
          end
        end

        def read_on(key)
          case key
          when :up then @offset = [@offset - 1, 0].max
          when :down then @offset = [@offset + 1, @detail.size - 1].min
          else @detail = nil
          end
        end

        def ask_to_kill
          number = @tables.worker or return @message = "select a worker, or a request"
          worker = worker(number) or return @message = "worker #{number} has ended"
          @question = worker
          @message = "kill worker #{number}, which has #{Log::Counted.of(worker["running"], "request")}? y or n"
        end

        # Kills the worker if the answer is yes, unless it has been replaced since the question.
        def answer(key)
          worker, @question, @message = @question, nil, nil
          return unless key == "y"

          number = worker.fetch("number")
          return @message = "worker #{number} has ended" unless worker(number)&.fetch("pid") == worker.fetch("pid")

          @server.post("/kill-worker?number=#{number}", deadline: REPLY_TIMEOUT)
          @message = "killed worker #{number}"
        rescue ControlError => e
          @message = e.message
        end

        def worker(number)
          @overview.fetch("processes").find { |row| row["number"] == number }
        end

        def show_backtrace
          request = @tables.request or return @message = "select a request"
          report = JSON.parse(@server.get("/stacks", deadline: REPLY_TIMEOUT))
          keys = %w[worker lane id]
          found = report.fetch("requests").find { |row| row.values_at(*keys) == request.values_at(*keys) }
          return @message = "the request has ended" unless found

          @detail = backtrace(found).map { |line| Printable.text(line) }
          @offset = 0
        rescue ControlError, JSON::ParserError => e
          @message = e.message
        end

        def backtrace(request)
          ["worker #{request.fetch("worker")}, lane #{request.fetch("lane")}: #{request.fetch("request")}",
           "#{request.fetch("stage")} for #{Page.time(request.fetch("age"))}, waits for: #{request.fetch("waits_for")}",
           "", *request.fetch("stack").lines(chomp: true)]
        end

        def refresh
          overview = JSON.parse(@server.get("/top", deadline: REPLY_TIMEOUT))
          receive(overview)
        rescue ControlError, JSON::ParserError => e
          # The server may be gone, and another one may run.
          @server.forget
          # Without its beginning, because the path of the socket may be longer than a line of the terminal.
          @failure = "trying again: #{e.message.lines.first.chomp.rpartition(": ").last}"
          @asked = now
        end

        def receive(overview)
          @page = Page.new(overview, rate: @page&.rate(overview, now - @asked))
          @failure = nil
          @overview = overview
          @asked = now
          @tables.receive(@page)
        end

        def draw
          rows, columns = @screen.size
          lines = @detail ? detail(rows - 1) : @tables.lines(rows - 1)
          @screen.show([*lines, [footer, false]].last(rows), columns)
        end

        def detail(rows)
          shown = @detail.drop(@offset).first(rows)
          shown + [""] * (rows - shown.size)
        end

        def footer
          text = @failure || @message || ("up, down: scroll; any other key: back" if @detail)
          text ? Printable.text(text) : (@is_stopped ? STOPPED : KEYS)
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
