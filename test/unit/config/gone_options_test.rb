# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/configuration"
require "carat/config/sources/flags"
require "carat/cli/program"
require "stringio"
require_relative "../../support/workplace"

module Carat
  class GoneOptionsTest < Minitest::Test
    include Support::Workplace

    SENTENCE = "it is gone: a load balancer keeps a client with its code"

    def test_no_gone_option_is_in_the_table
      Config::GoneOptions::TABLE.each_key { |name| assert_raises(KeyError, name) { Config::Options.fetch(name) } }
    end

    def test_the_config_file_is_told_what_to_use_instead
      write("carat.rb", "workers 1\ncanary_by :cookie\n")
      error = assert_raises(Config::ConfigError) { Config::Configuration.new(Config::Settings.new, {}) }

      assert_equal "carat.rb:2: canary_by: no such option; #{SENTENCE}", error.message
    end

    def test_a_flag_is_told_what_to_use_instead
      %w[--canary-by --no-canary-by].each do |flag|
        error = assert_raises(Config::ConfigError) { Config::Flags.new.parse([flag]) }

        assert_equal "#{flag}: no such flag; #{SENTENCE} (carat --help lists them)", error.message
      end
    end

    def test_check_warns_of_a_variable_that_has_no_effect
      out = StringIO.new

      assert_equal 0, CLI::Program.new(%w[check], env: { "CARAT_CANARY_BY" => "cookie" }, out:).run
      assert_includes out.string, "CARAT_CANARY_BY: no such variable; #{SENTENCE}\n"
    end
  end
end
