# frozen_string_literal: true

require "test_helper"
require "json"
require "rbconfig"
require "stringio"
require "time"
require "carat/log/process_log"

module Carat
  class ProcessLogTest < Minitest::Test
    REQUEST = { "REQUEST_METHOD" => "GET", "REQUEST_PATH" => "/x" }.freeze
    HOSTILE = "a\n2026-01-01T00:00:00.000Z info worker ready\e[2J\0\xff\u2028#{"x" * 1_000_000}"
    # What begins a line of the edge, of a Ruby process or of a request.
    LINE = /^(?:\d{4}-|carat: |GET |#{REQUEST.values.join(" ")})/

    def setup
      @stream = StringIO.new
    end

    def test_text_says_which_process_writes
      log.warn("one")
      log.with(worker: 3).warn("two")
      log.with(mold: true).failure("three", RuntimeError.new("four"))

      assert_equal ["carat: one", "carat: worker=3: two"], lines.first(2)
      assert_match(/\Acarat: mold: three: .*four \(RuntimeError\)\z/, lines.last)
    end

    def test_events_have_the_time_and_the_names_of_values
      log.info("loaded", ruby: "3.3", from: HOSTILE)

      assert_match(/\A\d{4}-\S+Z info loaded ruby=3.3 from=a\n    2026-01-01.*pid=#{Process.pid}\n\z/m, @stream.string)
    end

    def test_the_time_is_that_of_utc_wherever_the_server_is
      program = 'Carat::Log::ProcessLog.new($stdout).info("loaded"); puts Time.now.utc.iso8601'
      words = ["-Ilib", "-r", "time", "-r", "carat/log/process_log", "-e", program]
      line, now = IO.popen([{ "TZ" => "Etc/GMT-9" }, RbConfig.ruby, *words], &:readlines)

      assert_in_delta Time.iso8601(now.chomp), Time.iso8601(line[/\A\S+/]), 60
    end

    def test_error_of_the_application_begins_with_its_request
      log.application_error(raised("broken"), REQUEST)

      assert_match(%r{\AGET /x: \S*process_log_test\.rb:\d+:in .*broken \(RuntimeError\)\n    from }, @stream.string)
    end

    def test_error_outside_of_a_request_begins_with_its_place
      log.application_error(raised("broken"))

      assert_match(/\A\S*process_log_test\.rb:\d+:in .*broken/, @stream.string)
    end

    def test_hostile_text_is_one_event_in_a_text_log
      each_event(HOSTILE) do |event|
        event.call(log.with(worker: 1))

        assert_equal 1, @stream.string.scan(LINE).size, @stream.string[0, 300]
        assert_empty lines.drop(1).reject { |line| line.start_with?("    ") }
        refute_match(/[\p{Cc}\p{Cf}&&[^\n]]/, @stream.string)
        assert_operator @stream.string.bytesize, :<, 20_000
      end
    end

    def test_hostile_text_is_one_object_in_a_json_log
      each_event(HOSTILE) do |event|
        event.call(json.with(worker: 1))

        assert_equal 1, lines.size
        refute_match(/[\p{Cc}\p{Cf}\p{Zl}&&[^\n]]/, @stream.string)
        assert_equal [1, Process.pid], JSON.parse(@stream.string).values_at("worker", "pid")
        assert_operator @stream.string.bytesize, :<, 25_000
      end
    end

    def test_json_names_its_fields_as_the_edge_does
      json.application_error(raised("broken"), REQUEST)
      object = JSON.parse(@stream.string)

      assert_equal ["error", "application error", "GET /x"], object.values_at("level", "message", "request")
      assert_match(/broken \(RuntimeError\)\n\s+from /, object.fetch("cause"))
      assert_match(/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/, object.fetch("time"))
    end

    def test_errors_of_a_text_log_are_the_stream_and_those_of_a_json_log_objects
      assert_same @stream, log.errors
      errors = json.errors
      errors.puts("one", ["two\n"])
      errors.write("th", "ree\xff\n", :"")
      errors << "four"
      errors.printf("%d", 5)
      errors.flush.puts

      assert_equal ["one\ntwo", "three\\xff", "four", "5"], lines.map { |line| JSON.parse(line).fetch("message") }
    end

    def test_message_for_the_terminal_is_in_the_format_of_the_log
      assert_equal "no file", log.line("no file")
      assert_equal "no file", JSON.parse(json.line("no file")).fetch("message")
    end

    def test_log_without_a_reader_is_no_error
      reader, writer = IO.pipe
      log = Log::ProcessLog.new(writer)
      reader.close
      log.application_error(RuntimeError.new("broken"))
      writer.close
      log.warn("broken")
    end

    private

    def log
      Log::ProcessLog.new(@stream)
    end

    def json
      Log::ProcessLog.new(@stream, format: "json")
    end

    def lines
      @stream.string.lines(chomp: true)
    end

    # Every way in which `text` reaches a log.
    def each_event(text)
      [->(log) { log.warn(text) }, ->(log) { log.failure("what", raised(text)) },
       ->(log) { log.application_error(raised(text), REQUEST) },
       ->(log) { log.application_error(RuntimeError.new("x"), REQUEST.merge("REQUEST_PATH" => "/#{text}")) }]
        .each do |event|
        @stream = StringIO.new
        yield event
      end
    end

    def raised(message)
      raise message
    rescue RuntimeError => e
      e
    end
  end
end
