# frozen_string_literal: true

require "minitest/autorun"
require "carat/launch/rackup/rackup_handler"

module Carat
  class RackupHandlerTest < Minitest::Test
    # Stands where the command is.
    class CLIDouble
      attr_reader :argv, :pid_file

      def new(argv, env:, pid_file:)
        @argv = argv
        @env = env
        @pid_file = pid_file
        self
      end

      def run
        7
      end
    end

    def setup
      @handler = Module.new.extend(Launch::RackupHandler)
      @cli = CLIDouble.new
    end

    def test_command_gets_the_words_and_sets_the_exit_status
      error = assert_raises(SystemExit) { run_handler({}, config: "config.ru", Host: "::", Port: "80") }

      assert_equal 7, error.status
      assert_equal ["--bind=tcp://[::]:80", "--", "config.ru"], @cli.argv
    end

    def test_existing_variables_stay
      [{ "CARAT_BIND" => "fd://3" }, { "PORT" => "80" }, { "RACK_ENV" => "test", "PORT" => "1" }].each do |env|
        before = env.dup
        assert_raises(SystemExit) { run_handler(env, config: "config.ru", Host: "localhost", Port: 9292) }
        assert_equal before, env
      end
    end

    def test_missing_variables_are_set
      env = { "PORT" => "" }
      options = { config: "config.ru", Host: "localhost", Port: 9292, environment: "test" }
      assert_raises(SystemExit) { run_handler(env, **options) }

      assert_equal %w[tcp://localhost:9292 test], env.values_at("CARAT_BIND", "RACK_ENV")
    end

    def test_the_server_removes_the_pid_file_that_rackup_has_written
      assert_raises(SystemExit) { run_handler({}, config: "config.ru", pid: "server.pid") }

      assert_equal File.expand_path("server.pid"), @cli.pid_file
    end

    def test_options_without_effect_are_named
      assert_output("", /\Acarat: Workrs: no such option; did you mean workers\? \(.*\n\z/) do
        assert_raises(SystemExit) { run_handler({}, config: "config.ru", Workrs: "2", AccessLog: []) }
      end
    end

    def test_application_without_a_file_prints_one_line
      message = /\Acarat: needs the application in a rackup file, which .+\n\z/

      assert_output("", message) do
        assert_equal 1, assert_raises(SystemExit) { run_handler({}) }.status
      end
    end

    private

    def run_handler(env, **options)
      @handler.run(nil, cli: @cli, env:, **options)
    end
  end
end
