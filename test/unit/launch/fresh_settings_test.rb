# frozen_string_literal: true

require "minitest/autorun"
require "json"
require "carat"
require "carat/launch/fresh_settings"
require_relative "../../support/workplace"

module Carat
  class FreshSettingsTest < Minitest::Test
    include Support::Workplace

    def setup
      super
      write("carat.rb", "workers 1\nmax_headers 100\n")
      @running = JSON.parse(JSON.generate(edge_settings))
    end

    def test_what_a_restart_can_change_is_new_and_the_rest_stays
      write("carat.rb", "workers 2\nmax_headers 50\nbind 'tcp://127.0.0.1:1'\n")
      settings = answer.fetch(:settings)

      assert_equal "2..2", settings[:settings]["workers"]
      assert_equal @running.values_at("max_headers", "bind"), settings[:settings].values_at("max_headers", "bind")
      assert_equal %w[bind max_headers], settings[:unchanged].sort
    end

    def test_mold_and_edge_keep_what_only_a_start_changes
      write("carat.rb", "max_headers 100\nthreads 5\nlog_format 'json'\nspool_dir #{path("").inspect}\n")
      settings = answer.fetch(:settings)
      shared = Launch::SharedOptions.values(settings[:settings].dig("launch", "mold_environment"))

      assert_equal %w[log_format spool_dir], settings[:unchanged].sort
      assert_equal ["text", "/var/tmp", 5], shared.values_at(:log_format, :spool_dir, :threads)
      assert_equal ["text", "/var/tmp", 5], settings[:settings].values_at("log_format", "spool_dir", "threads")
    end

    def test_user_umask_and_pidfile_stay_and_are_named
      write("carat.rb", "max_headers 100\nuser 'nobody'\ngroup 'nogroup'\numask '027'\npidfile 'here.pid'\n")
      settings = answer.fetch(:settings)

      assert_equal %w[group pidfile umask user], settings[:unchanged].sort
      assert_equal @running.values_at("identity", "pid_file"), settings[:settings].values_at("identity", "pid_file")
      assert_equal user(@running.dig("launch", "mold_environment")),
                   user(settings[:settings].dig("launch", "mold_environment"))
    end

    def test_wrong_configuration_is_the_answer
      write("carat.rb", "workers 'many'\n")

      assert_match(/\Acarat.rb:1: workers: "many" is not a number/, answer.fetch(:error))
    end

    def test_another_version_of_carat_needs_a_new_start
      @running["version"] = "0.0.1"

      assert_equal "Carat 0.0.1 is running, and #{VERSION} is installed: use carat upgrade",
                   answer.fetch(:error)
    end

    private

    def user(environment)
      environment.slice("HOME", "USER", "LOGNAME")
    end

    def edge_settings
      Launch::Launcher.new(Config::Configuration.from_words([], env: {}), []).edge_settings
    end

    def answer
      Launch::FreshSettings.new([], @running).answer
    end
  end
end
