# frozen_string_literal: true

require "json"
require "minitest/autorun"
require "carat/config/configuration"
require "carat/config/sources/flags"
require_relative "../../support/workplace"

module Carat
  class ConfigurationTest < Minitest::Test
    include Support::Workplace

    def test_defaults_come_from_the_table
      settings = configure

      assert_equal [1..1, 3, "development", ["tcp://*:9292"], path("config.ru"), nil, 65_536, 15.0],
                   values(settings, *%i[workers threads environment bind rackup log inline_body_limit header_timeout])
      assert_nil settings.config_path
    end

    def test_flags_win_over_the_file_and_the_file_over_variables
      write("carat.rb", "workers 2\nthreads 2\n")
      settings = configure("-w3", env: { "WEB_CONCURRENCY" => "9", "CARAT_THREADS" => "9", "CARAT_QUEUE_LIMIT" => "9" })

      assert_equal [3..3, 2, 9], values(settings, :workers, :threads, :queue_limit)
    end

    def test_an_option_is_chosen_by_a_flag_the_file_or_a_variable
      refute configure.chosen?(:max_connections)
      assert configure("--max-connections", "5").chosen?(:max_connections)
      assert configure(env: { "CARAT_MAX_CONNECTIONS" => "5" }).chosen?(:max_connections)
      write("carat.rb", "max_connections 5\n")

      assert configure.chosen?(:max_connections)
    end

    def test_strongest_source_replaces_a_list
      write("carat.rb", "bind 'fd://3'\n")

      assert_equal ["fd://3"], configure(env: { "PORT" => "1" })[:bind]
      assert_equal ["fd://4"], configure("-b", "fd://4")[:bind]
    end

    def test_named_config_file_replaces_the_default_ones
      write("carat.rb", "workers 2\n")
      write("other.rb", "workers 4\n")

      assert_equal 4..4, configure("-C", "other.rb")[:workers]
      assert_equal 4..4, configure(env: { "CARAT_CONFIG" => "other.rb" })[:workers]
      assert_equal path("carat.rb"), configure.config_path
    end

    def test_nil_in_the_file_overrides_a_variable
      write("carat.rb", "log nil\n")

      assert_nil configure(env: { "CARAT_LOG" => "carat.log" })[:log]
    end

    def test_in_development_no_request_times_out
      assert_equal [nil, 60.0], %w[development production].map { |name| configure("-e", name)[:request_timeout] }
      assert_equal [nil, 5.0], [configure("--request-timeout=off", "-eproduction"), configure("--request-timeout=5")]
        .map { |configuration| configuration[:request_timeout] }
      write("carat.rb", "environment \"production\"")

      assert_equal 60.0, configure[:request_timeout] # rubocop:disable Minitest/AssertInDelta
    end

    def test_overridden_variables_are_not_parsed
      assert_equal 2..2, configure("-w2", env: { "WEB_CONCURRENCY" => "many" })[:workers]
    end

    def test_config_file_sees_the_environment_in_rack_env
      write("carat.rb", "workers ENV['RACK_ENV'] == 'test' ? 4 : 1\n")
      rack_env = ENV.fetch("RACK_ENV", nil)

      assert_equal 4..4, Config::Configuration.from_words(%w[environment=test])[:workers]
    ensure
      ENV["RACK_ENV"] = rack_env
      ENV.delete("RAILS_ENV")
    end

    def test_environment_chosen_for_carat_applies_to_rails
      [["-e", "staging"], [{ "CARAT_ENVIRONMENT" => "staging" }]].each do |words|
        env = { "RACK_ENV" => "test", "RAILS_ENV" => "test" }.merge(words.grep(Hash).first.to_h)
        configure(*words.grep(String), env:)

        assert_equal %w[staging staging], env.values_at("RACK_ENV", "RAILS_ENV")
      end
    end

    def test_environment_chosen_in_the_file_applies_to_rails
      write("carat.rb", "environment 'staging'\n")
      configure(env: env = {})

      assert_equal %w[staging staging], env.values_at("RACK_ENV", "RAILS_ENV")
    end

    def test_rails_keeps_its_own_environment
      configure(env: env = { "RACK_ENV" => "deployment", "RAILS_ENV" => "production" })
      assert_equal %w[deployment production], env.values_at("RACK_ENV", "RAILS_ENV")

      configure(env: env = { "RAILS_ENV" => "production" })
      assert_equal %w[production production], env.values_at("RACK_ENV", "RAILS_ENV")
    end

    def test_hooks_of_the_file_can_be_run
      write("carat.rb", "on_worker_boot { |list| list << :booted }\n")
      configure.hooks.run(:on_worker_boot, calls = [])

      assert_equal [:booted], calls
    end

    def test_options_cannot_be_set_from_a_hook
      write("carat.rb", "on_worker_boot { workers 4 }\n")
      error = assert_raises(Config::ConfigError) { configure.hooks.run(:on_worker_boot) }

      assert_equal "carat.rb:1: workers: is too late: the configuration has been read", error.message
    end

    def test_edge_gets_resolved_values
      text = JSON.generate(configure("--max-body=1MB", "--queue-timeout=500ms", "--log=x.log", "--access-log").for_edge)
      values = JSON.parse(text).values_at("max_body", "queue_timeout", "idle_timeout", "log", "access_log", "ready_fd")

      assert_equal [1_048_576, 0.5, 65.0, path("x.log"), true, nil], values
      refute_includes JSON.parse(text).keys, "rackup"
    end

    def test_missing_files_are_named
      File.delete("config.ru")

      assert_refused "rackup: there is no file #{path("config.ru")}; " \
                     "start carat beside it, or name one: carat path/to/config.ru"
      assert_refused "--config: there is no file #{path("no.rb")}", "-C", "no.rb"
      assert_refused "CARAT_CONFIG: there is no file #{path("no.rb")}", env: { "CARAT_CONFIG" => "no.rb" }
    end

    private

    def configure(*words, env: {})
      flags = Config::Flags.new
      flags.parse(words)
      Config::Configuration.new(flags.settings, env)
    end

    def values(settings, *names)
      names.map { |name| settings[name] }
    end

    def assert_refused(message, *words, **options)
      assert_equal message, assert_raises(Config::ConfigError) { configure(*words, **options) }.message
    end
  end
end
