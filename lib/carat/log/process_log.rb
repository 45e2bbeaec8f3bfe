# frozen_string_literal: true

require_relative "error_stream"
require_relative "escape"
require_relative "plain_json"

module Carat
  module Log
    # Loaded when it is used, because it needs the native extension: when the extension is missing, the launcher must
    # still be able to say so. A mold loads the file when it starts.
    autoload :ErrorReport, File.join(__dir__, "error_report.rb")

    # Writes the log lines of one Ruby process of the server, in the format of the edge's lines. Text of the application
    # is escaped, so that it cannot begin a log line of its own.
    class ProcessLog
      # `stream` is an IO; `format` is "text" or "json"; `fields` say which process writes.
      def initialize(stream = $stderr, format: "text", **fields)
        @stream = stream
        @format = format
        @fields = fields
      end

      # Returns the log of a process with other `fields`, such as `worker: 3`.
      def with(**fields)
        ProcessLog.new(@stream, format: @format, **fields)
      end

      # Returns the stream for `rack.errors`. In a text log, this is the log's own stream, without a prefix or escapes.
      def errors
        json? ? ErrorStream.new(with) : @stream
      end

      # Logs an event as the edge does; `details` are a Hash of names and values.
      def info(message, **details)
        return event("info", message:, **details) if json?

        pairs = { **details, pid: Process.pid }.map { |name, value| "#{name}=#{value}" }
        write(Escape.block([time, "info", message, *pairs].join(" ")))
      end

      # Logs a warning.
      def warn(message)
        json? ? event("warn", message:) : write("#{prefix}#{Escape.block(message)}")
      end

      # Logs an Exception; `message` says what failed because of it.
      def failure(message, error)
        report = ErrorReport.new(error).to_s
        json? ? event("error", message:, cause: report) : write("#{prefix}#{Escape.block("#{message}: #{report}")}")
      end

      # Logs an Exception of the application. `env` is the environment of its request, and empty outside of a request.
      def application_error(error, env = {})
        report = ErrorReport.new(error).to_s
        request = env.values_at("REQUEST_METHOD", "REQUEST_PATH").join(" ") unless env.empty?
        return write(Escape.block([*request, report].join(": "))) unless json?

        event("error", message: "application error", **{ request: }.compact, cause: report)
      end

      # Returns a message for the terminal in the format of the log.
      def line(message)
        json? ? json("error", message:) : message
      end

      # Writes the line of an event in a JSON log.
      def event(level, **details)
        write(json(level, **details))
      end

      private

      def json(level, **details)
        details = details.transform_values do |value|
          value.is_a?(Integer) ? value : Escape.shortened(Escape.utf8(value) { "\ufffd" })
        end
        PlainJSON.generate({ time:, level:, **details, **@fields, pid: Process.pid })
      end

      def time
        Time.now.utc.strftime("%Y-%m-%dT%H:%M:%S.%LZ")
      end

      def json?
        @format == "json"
      end

      def prefix
        ["carat", *@fields.map { |name, value| value == true ? name : "#{name}=#{value}" }, ""].join(": ")
      end

      # Writes each line in one call, so that lines of several processes do not mix.
      def write(line)
        @stream.write("#{line}\n")
      rescue IOError, SystemCallError
        # The reader of the log is gone. Requests must not fail for that.
      end
    end
  end
end
