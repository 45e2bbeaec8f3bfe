# frozen_string_literal: true

require "minitest/autorun"
require "carat/launch/rackup/rackup_arguments"

module Carat
  class RackupArgumentsTest < Minitest::Test
    RACKUP = { environment: "development", Host: "localhost", Port: 9292, config: "/app/config.ru",
               AccessLog: [] }.freeze

    def test_address_of_the_user_is_a_flag
      assert_equal ["--bind=tcp://localhost:3000", "--", "/app/config.ru"], argv(Port: "3000")
      assert_equal "--bind=tcp://[::1]:9292", argv(Host: "::1").first
      assert_equal "--bind=unix:///run/app.sock", argv(Host: "unix:///run/app.sock").first
    end

    def test_default_address_of_rackup_yields_to_the_config_file
      assert_equal ["--", "/app/config.ru"], argv
      assert_equal "tcp://localhost:9292", arguments.variables["CARAT_BIND"]
      refute_includes arguments(Port: "3000").variables, "CARAT_BIND"
    end

    def test_rails_reports_the_options_of_its_user
      assert_equal ["--", "/app/config.ru"], argv(Port: 3000, user_supplied_options: [:pid])
      assert_equal "--bind=tcp://localhost:9292", argv(user_supplied_options: [:Port]).first
    end

    def test_every_address_by_default_of_rails_includes_ipv6
      rails = { Host: "0.0.0.0", Port: 3000 }

      assert_equal "tcp://*:3000", arguments(**rails, user_supplied_options: []).variables["CARAT_BIND"]
      assert_equal "--bind=tcp://*:3000", argv(**rails, user_supplied_options: [:Port]).first
      assert_equal "--bind=tcp://0.0.0.0:3000", argv(**rails, user_supplied_options: [:Host]).first
    end

    def test_options_of_the_table_become_flags
      assert_equal ["--threads=5", "--access-log=true"], argv(Threads: "5", access_log: true).first(2)
    end

    def test_options_of_rackup_itself_are_not_passed_on
      assert_equal ["--", "/app/config.ru"], argv(daemonize: true, pid: "x", bind: "y", rackup: "z", log_stdout: true)
    end

    def test_environment_is_passed_as_a_variable
      assert_equal "production", arguments(environment: "production").variables["RACK_ENV"]
    end

    def test_libraries_and_paths_reach_the_mold
      variables = arguments(include: ["/app/lib"], require: ["json"]).ruby_variables({ "RUBYOPT" => "-W1" })

      assert_equal({ "RUBYLIB" => "/app/lib", "RUBYOPT" => "-W1 -rjson" }, variables)
      assert_empty arguments.ruby_variables({})
    end

    def test_application_without_a_file_is_refused
      [{ config: nil }, { builder: "run App" }, { app: :app }].each do |options|
        error = assert_raises(Launch::LaunchError) { argv(**options) }
        assert_match(/\Acarat: needs the application in a rackup file, .*Capybara.* such as Puma\z/, error.message)
      end
    end

    def test_a_daemon_returns_to_the_directory_of_the_application
      assert_equal "/app", arguments(daemonize: true).directory
      assert_nil arguments.directory
    end

    def test_the_log_to_the_terminal_is_asked_for_by_a_variable
      assert_equal "1", arguments(log_stdout: true).variables["CARAT_CONSOLE_LOG"]
      refute_includes arguments(log_stdout: false).variables, "CARAT_CONSOLE_LOG"
    end

    private

    def arguments(**options)
      Launch::RackupArguments.new(RACKUP.merge(options))
    end

    def argv(**options)
      arguments(**options).argv
    end
  end
end
