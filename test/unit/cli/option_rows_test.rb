# frozen_string_literal: true

require "minitest/autorun"
require "stringio"
require "carat/cli/program"
require_relative "../../support/workplace"

module Carat
  class OptionRowsTest < Minitest::Test
    include Support::Workplace

    def test_every_option_has_a_row_with_its_value
      out = print

      assert_equal Config::Options.map { |option| option.name.to_s }, rows(out).keys
      assert_equal %w[default 16384], rows(out)["max_connections"]
      assert_equal ["default", "8 GiB"], rows(out)["spool_limit"]
      assert_equal %w[default none], rows(out)["warm_up"]
      assert_match(/^carat: the configuration is valid: /, out.lines.last)
    end

    def test_a_row_names_the_flag_the_line_or_the_variable
      write("carat.rb", "\nworkers 1..4\nwarm_up '/'\nwarm_up '/login'\n")
      rows = rows(print("-t5", "config.ru", env: { "RAILS_ENV" => "production", "CARAT_QUEUE_LIMIT" => "9" }))

      assert_equal [["--threads", "5"], ["carat.rb:2", "1..4"], ["carat.rb:3", "/, /login"]],
                   rows.values_at("threads", "workers", "warm_up")
      assert_equal [%w[RAILS_ENV production], %w[CARAT_QUEUE_LIMIT 9], ["argument", path("config.ru")],
                    ["found", path("carat.rb")]],
                   rows.values_at("environment", "queue_limit", "rackup", "config")
    end

    def test_a_row_names_what_has_no_effect
      write("carat.rb", "workers 2\n")
      variables = { "WEB_CONCURRENCY" => "4", "CARAT_THREADS" => "4", "RAILS_MAX_THREADS" => "5" }
      rows = rows(print("-w3", env: variables))

      assert_equal [["--workers, not carat.rb:1, WEB_CONCURRENCY", "3"], ["CARAT_THREADS, not RAILS_MAX_THREADS", "4"]],
                   rows.values_at("workers", "threads")
    end

    def test_defaults_of_development_are_named
      rows = rows(print)

      assert_equal [%w[default development], ["default in development", "off"], ["default in development", "true"]],
                   rows.values_at("environment", "request_timeout", "reload")
      assert_equal ["default", "60 s"], rows(print("-eproduction"))["request_timeout"]
    end

    def test_what_is_turned_off_says_so
      write("carat.rb", "restart_file 'off'\nrequest_timeout 'off'\nlog nil\n")

      assert_equal [["carat.rb:1", "off"], ["carat.rb:2", "off"], ["carat.rb:3", "standard error"]],
                   rows(print).values_at("restart_file", "request_timeout", "log")
    end

    def test_secrets_are_not_shown
      out = print(env: { "CARAT_CABLE_TOKEN" => "h3avy-s3cret" })

      assert_equal ["CARAT_CABLE_TOKEN", "(not shown)"], rows(out)["cable_token"]
      refute_includes out, "s3cret"
    end

    def test_a_wrong_configuration_prints_its_mistake_alone
      write("carat.rb", "workers 'many'\n")

      assert_equal ["", 78], [print, @status]
      assert_match(/\Acarat\.rb:1: workers: "many" is not /, @err.string)
    end

    private

    def print(*words, env: {})
      out = StringIO.new
      @err = StringIO.new
      @status = CLI::Program.new(["check", "--print", *words], env: env.dup, out:, err: @err).run
      out.string
    end

    # The place and the value by the name of the option.
    def rows(text)
      text.lines(chomp: true).drop(1).take_while { |line| !line.empty? }.to_h do |line|
        name, *cells = line.split(/ {2,}/)
        [name, cells]
      end
    end
  end
end
