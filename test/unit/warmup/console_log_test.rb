# frozen_string_literal: true

require "minitest/autorun"
require "logger"
require "active_support"
require "active_support/core_ext/object/try"
require "active_support/logger"
require "carat/warmup/console_log"
require "stringio"

module Carat
  class ConsoleLogTest < Minitest::Test
    def setup
      @file = StringIO.new
      @out = StringIO.new
      @logger = ActiveSupport::Logger.new(@file, level: Logger::INFO)
      @logger = broadcast(@logger) if defined?(ActiveSupport::BroadcastLogger)
    end

    def test_lines_go_to_the_file_and_to_the_console
      attach({ "CARAT_CONSOLE_LOG" => "1" })

      assert_equal %W[loud\n loud\n], [@file.string, @out.string]
    end

    def test_without_the_variable_nothing_changes
      attach({})

      assert_equal ["loud\n", ""], [@file.string, @out.string]
    end

    def test_a_logger_that_writes_there_already_stays_as_it_is
      @file = @out
      @logger = ActiveSupport::Logger.new(@out, level: Logger::INFO)
      attach({ "CARAT_CONSOLE_LOG" => "1" })

      assert_equal "loud\n", @out.string
    end

    def test_the_variable_is_removed
      attach(env = { "CARAT_CONSOLE_LOG" => "1" })

      assert_empty env
    end

    private

    # As Rails 7.1 and later do when an application is initialized.
    def broadcast(logger)
      ActiveSupport::BroadcastLogger.new(logger).tap { |all| all.formatter = logger.formatter }
    end

    def attach(env)
      Warmup::ConsoleLog.attach(env, logger: @logger, out: @out)
      @logger.debug("silent")
      @logger.info("loud")
    end
  end
end
