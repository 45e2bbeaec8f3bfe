# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/sources/flags"
require "carat/config/settings"

module Carat
  class FlagsTest < Minitest::Test
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

    def test_boolean_flags_take_no_further_word_and_have_a_negative
      values = %w[--access-log --no-access-log --access-log=false].map do |flag|
        read(flag, "config.ru").fetch(:access_log)
      end

      assert_equal [true, false, false], values
    end

    def test_options_that_no_flag_names_are_not_set
      refute read.key?(:rackup)
      refute read.key?(:workers)
    end

    def test_arguments_may_stand_anywhere
      flags = Config::Flags.new

      assert_equal %w[a.ru b.ru -w3], flags.parse(%w[a.ru -w2 b.ru -- -w3])
      assert_equal 2..2, flags.settings.fetch(:workers)
    end

    def test_reading_may_stop_at_the_first_argument
      flags = Config::Flags.new

      assert_equal %w[check --nonsense], flags.parse_leading(%w[-w 2 check --nonsense])
      assert_equal 2..2, flags.settings.fetch(:workers)
    end

    def test_settings_can_be_read_from_the_words_of_flags
      flags = Config::Flags.new
      flags.parse(%w[-w2 -b tcp://x:1 --bind=fd://3 --no-access-log --log-format=json])
      settings = Config::Settings.from_words(flags.words)

      assert_equal [2..2, ["tcp://x:1", "fd://3"], false, "json"],
                   %i[workers bind access_log log_format].map { |name| settings.fetch(name) }
    end

    def test_help_and_version_are_noted
      requests = [%w[-h], %w[--help a.ru], %w[-v], %w[-w2 --version], []].map do |words|
        Config::Flags.new.tap { |flags| flags.parse(words) }.request
      end

      assert_equal [:help, :help, :version, :version, nil], requests
    end

    def test_further_flags_are_those_of_the_block
      pid = nil
      flags = Config::Flags.new(options: []) { |parser| parser.on("--pid PID") { |text| pid = text } }
      flags.parse(%w[--pid 7])

      assert_equal "7", pid
      assert_raises(Config::ConfigError) { flags.parse(%w[--workers 2]) }
    end

    def test_wrong_values_name_the_flag
      assert_refused '--threads: "many" is not a whole number from 1 to 100', "--threads", "many"
      assert_refused '--threads: "0" is not a whole number from 1 to 100', "-t0"
      assert_refused '--access-log: "maybe" is not true or false', "--access-log=maybe"
    end

    def test_missing_and_needless_values_name_the_flag
      assert_refused "--workers: needs a value", "--workers"
      assert_refused "-w: needs a value", "-w"
      assert_refused "--log: needs a value", "--log", "--access-log"
      assert_refused "--help: takes no value", "--help=me"
    end

    def test_flags_of_puma_are_answered_with_those_of_carat
      assert_refused "-p: no such flag; in place of Puma's -p use PORT=3000, or --bind 'tcp://*:3000' " \
                     "(carat --help lists them)", "-p", "3000"
      assert_refused "-S: no such flag; in place of Puma's -S use `carat status` (carat --help lists them)", "-S", "x"
      assert_refused "--threads: \"1:5\" is not a whole number from 1 to 100; Puma's minimum and maximum are one " \
                     "number here: 5", "-t", "1:5"
      assert_refused "--threads: \"x\" is not a whole number from 1 to 100", "-t", "x"
    end

    def test_a_daemon_is_refused_with_the_reason_and_the_alternative
      %w[-d --daemon --daemonize].each do |flag|
        assert_refused "#{flag}: no such flag; in place of Puma's #{flag} use a service manager, such as systemd " \
                       "(docs/services.md): Carat stays in the foreground, where whoever started it can watch, log, " \
                       "and restart it (carat --help lists them)", flag
      end
    end

    def test_unknown_flags_get_a_hint
      assert_refused "--wokers: no such flag; did you mean --workers? (carat --help lists them)", "--wokers=2"
      assert_refused "--zigzag: no such flag (carat --help lists them)", "--zigzag"
      assert_refused "--no-workers: no such flag; did you mean --workers? (carat --help lists them)", "--no-workers"
    end

    def test_flags_are_not_abbreviated
      assert_refused "--work: no such flag; did you mean --workers? (carat --help lists them)", "--work", "2"
      assert_refused "-z: no such flag (carat --help lists them)", "-z"
      assert_refused "--acc: no such flag; did you mean --access-log? (carat --help lists them)", "--acc"
    end

    private

    def read(*words)
      flags = Config::Flags.new
      flags.parse(words)
      flags.settings
    end

    def assert_refused(message, *words)
      assert_equal message, assert_raises(Config::ConfigError) { read(*words) }.message
    end
  end
end
