# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/command_line"
require_relative "../../support/workplace"

module Carat
  class CommandLineTest < Minitest::Test
    include Support::Workplace

    def test_values_stand_in_the_same_word_or_in_the_next
      ["--workers 2", "--workers=2", "-w 2", "-w2"].each do |words|
        assert_equal 2..2, read(*words.split).fetch(:workers), words
      end
    end

    def test_repeated_binds_add_up_and_other_flags_replace
      settings = read("-b", "tcp://x:1", "--bind=fd://3", "-w1", "-w2")

      assert_equal ["tcp://x:1", "fd://3"], settings.fetch(:bind)
      assert_equal 2..2, settings.fetch(:workers)
    end

    def test_boolean_flags_take_no_value_and_have_a_negative
      values = %w[--access-log --no-access-log --access-log=false].map do |flag|
        read(flag, "config.ru").fetch(:access_log)
      end

      assert_equal [true, false, false], values
    end

    def test_the_argument_is_the_rackup_file
      write("other.ru", "")

      assert_equal path("other.ru"), read("other.ru", "-w2").fetch(:rackup)
      assert_equal path("other.ru"), read("--", "other.ru").fetch(:rackup)
    end

    def test_what_is_not_given_is_not_set
      refute read.key?(:rackup)
      refute read.key?(:workers)
    end

    def test_words_choose_the_command
      words = [[], %w[check], %w[-w2 check config.ru], %w[doctor -w2], %w[-h], %w[--version], %w[--help no.ru],
               %w[memory --json], %w[memory -h]]

      assert_equal %i[serve check check doctor help version help memory help],
                   words.map { |line| CLI::CommandLine.new(line).command }
    end

    def test_a_command_has_flags_of_its_own
      assert_equal({ pid: 42, json: true }, CLI::CommandLine.new(%w[--json memory --pid 42]).flags)
      assert_empty CLI::CommandLine.new(%w[-w2]).flags
      assert_refused "--json: is only for carat memory", "--json"
      assert_refused "--pid: needs a value", "memory", "--pid"
      assert_refused "--jsn: no such flag; did you mean --json? (carat --help lists them)", "memory", "--jsn"
    end

    def test_help_may_be_wanted_for_one_command
      topics = [%w[memory --help], %w[--help], %w[check --help]].map { |words| CLI::CommandLine.new(words).topic }

      assert_equal [:memory, nil, nil], topics
    end

    def test_the_words_stay_as_they_are
      words = %w[-w 2].freeze

      assert_equal 2..2, read(*words).fetch(:workers)
    end

    def test_wrong_values_name_the_flag
      assert_refused '--threads: "many" is not a whole number from 1 to 100', "--threads", "many"
      assert_refused '-t: "0" is not a whole number from 1 to 100', "-t0"
      assert_refused '--access-log: "maybe" is not true or false', "--access-log=maybe"
    end

    def test_missing_values_name_the_flag
      assert_refused "--workers: needs a value", "--workers"
      assert_refused "--log: needs a value", "--log", "--access-log"
    end

    def test_unknown_flags_get_a_hint
      assert_refused "--wokers: no such flag; did you mean --workers? (carat --help lists them)", "--wokers=2"
      assert_refused "--quantum: no such flag (carat --help lists them)", "--quantum"
      assert_refused "-z: no such flag (carat --help lists them)", "-z"
      assert_refused "--no-workers: no such flag; did you mean --workers? (carat --help lists them)", "--no-workers"
    end

    def test_one_rackup_file_is_enough
      assert_refused "b.ru: one rackup file is enough", "config.ru", "b.ru"
      assert_refused "carat: there is no file #{path("b.ru")}; " \
                     "start carat beside it, or name one: carat path/to/config.ru", "b.ru"
    end

    private

    def read(*words)
      CLI::CommandLine.new(words).settings
    end

    def assert_refused(message, *words)
      assert_equal message, assert_raises(Config::ConfigError) { read(*words) }.message
    end
  end
end
