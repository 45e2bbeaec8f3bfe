# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/sources/variables"

module Carat
  class VariablesTest < Minitest::Test
    def test_each_option_has_a_variable_of_its_own
      assert_equal 2048, read(:max_body, "CARAT_MAX_BODY" => "2KB")
    end

    def test_common_variables_count_when_those_of_carat_are_unset
      assert_equal 4..4, read(:workers, "WEB_CONCURRENCY" => "4")
      assert_equal 2..2, read(:workers, "WEB_CONCURRENCY" => "4", "CARAT_WORKERS" => "2")
      assert_equal 4..4, read(:workers, "WEB_CONCURRENCY" => "4", "CARAT_WORKERS" => "")
      assert_equal "test", read(:environment, "RACK_ENV" => "test", "RAILS_ENV" => "production")
      assert_in_delta 95.0, read(:idle_timeout, "PUMA_PERSISTENT_TIMEOUT" => "95")
    end

    def test_unknown_variables_are_named_with_the_nearest
      env = { "CARAT_WROKERS" => "2", "CARAT_WORKERS" => "2", "CARAT_TEST_FIBERS" => "1", "PATH" => "" }

      assert_equal ["CARAT_WROKERS: no such variable; did you mean CARAT_WORKERS?"], Config::Variables.warnings(env)
    end

    def test_the_single_mode_of_puma_is_one_worker
      assert_equal 1..1, read(:workers, "WEB_CONCURRENCY" => "0")
      assert_raises(Config::ConfigError) { read(:workers, "CARAT_WORKERS" => "0") }
    end

    def test_port_listens_on_all_interfaces
      assert_equal ["tcp://*:3000"], read(:bind, "PORT" => "3000")
      assert_equal ["fd://3"], read(:bind, "PORT" => "3000", "CARAT_BIND" => "fd://3")
    end

    def test_addresses_are_separated_by_commas
      assert_equal ["tcp://x:1", "fd://3"], read(:bind, "CARAT_BIND" => "tcp://x:1, fd://3")
      assert_equal ["tls://x:1?acme=a.example,b.example", "tcp://x:2"],
                   read(:bind, "CARAT_BIND" => "tls://x:1?acme=a.example,b.example,tcp://x:2")
    end

    def test_option_without_a_variable_stays_unset
      settings = Config::Settings.new
      Config::Variables.new({ "WEB_CONCURRENCY" => " " }).read(Config::Options.fetch(:workers), settings)

      refute settings.key?(:workers)
    end

    def test_errors_name_the_variable
      assert_refused 'RAILS_MAX_THREADS: "x" is not a whole number from 1 to 100', :threads, "RAILS_MAX_THREADS" => "x"
      assert_refused 'PORT: "http" is not a whole number from 0 to 65535', :bind, "PORT" => "http"
      assert_refused "CARAT_BIND: \"x\" is not an address; write #{Config::Type::Address.forms}", :bind,
                     "CARAT_BIND" => "x"
    end

    private

    def read(name, env)
      settings = Config::Settings.new
      Config::Variables.new(env).read(Config::Options.fetch(name), settings)
      settings.fetch(name)
    end

    def assert_refused(message, name, env)
      assert_equal message, assert_raises(Config::ConfigError) { read(name, env) }.message
    end
  end
end
