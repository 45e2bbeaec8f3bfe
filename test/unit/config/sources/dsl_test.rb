# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/sources/config_file"
require "carat/config/settings"
require_relative "../../../support/workplace"

module Carat
  class DSLTest < Minitest::Test
    include Support::Workplace

    def test_each_option_is_a_method
      values = { workers: 2, log_format: :json, max_body: "1MB", header_timeout: 2.5, access_log: true, log: nil }
      settings = read(values.map { |name, value| "#{name} #{value.inspect}" }.join("\n"))

      assert_equal([2..2, "json", 1_048_576, 2.5, true, nil], values.keys.map { |name| settings.fetch(name) })
    end

    def test_binds_add_up
      settings = read(%(bind "tcp://x:1"\nbind "fd://3", "fd://4"\nbind ["tcp://x:2"]))

      assert_equal %w[tcp://x:1 fd://3 fd://4 tcp://x:2], settings.fetch(:bind)
    end

    def test_paths_are_relative_to_the_working_directory
      write("config/carat.rb", %(rackup "config.ru"\nlog "carat.log"\nspool_dir "."))
      settings = run_file(path("config/carat.rb"))

      assert_equal([path("config.ru"), path("carat.log"), @workplace],
                   %i[rackup log spool_dir].map { |name| settings.fetch(name) })
    end

    def test_each_hook_takes_a_block
      read(Config::Hooks::TABLE.keys.map { |name| "#{name} { |calls| calls << :#{name} }" }.join("\n"))
      calls = []
      Config::Hooks::TABLE.each_key { |name| @hooks.run(name, calls) }

      assert_equal Config::Hooks::TABLE.keys, calls
    end

    def test_wrong_values_name_the_line_and_the_option
      assert_refused 'carat.rb:4: threads: "many" is not a whole number from 1 to 100', %(\n\n\nthreads "many")
      assert_refused "carat.rb:2: workers: nil is not a number of workers up to 10000, such as 2, 1..8 or \"auto\"",
                     "\nworkers nil"
      assert_refused "carat.rb:1: bind: no address is given; write #{Config::Type::Address.forms}", "bind"
    end

    def test_error_in_a_block_names_the_line_of_the_call
      assert_refused "carat.rb:2: threads: 0 is not a whole number from 1 to 100", "[0].each do |n|\n  threads n\nend"
    end

    def test_options_take_one_value
      assert_refused "carat.rb:1: threads: takes one value (2 given); Puma's minimum and maximum are one number " \
                     "here: 5", "threads 1, 5"
      assert_refused "carat.rb:1: workers: takes one value (0 given)", "workers"
    end

    def test_hooks_without_a_block_are_refused
      assert_refused "carat.rb:1: before_fork: takes a block", "before_fork"
    end

    def test_unknown_options_get_a_hint
      assert_refused "carat.rb:2: wokers: no such option; did you mean workers?", "\nwokers 2"
      assert_refused "carat.rb:1: on_worker_start: no such option; did you mean on_worker_boot?",
                     "on_worker_start { 1 }"
    end

    def test_methods_of_puma_are_answered_with_what_translates_them
      hint = "it is Puma's: carat import carat.rb prints the carat.rb"
      assert_refused "carat.rb:1: preload_app!: no such option; #{hint}", "preload_app!"
      assert_refused "carat.rb:1: plugin: no such option; #{hint}", "plugin :tmp_restart"
    end

    private

    def read(text)
      write("carat.rb", text)
      run_file(path("carat.rb"))
    end

    def run_file(file)
      settings = Config::Settings.new
      @hooks = Config::Hooks.new
      Config::ConfigFile.new(file).run(settings, @hooks, @processes = Config::Processes.new)
      settings
    end

    def assert_refused(message, text)
      assert_equal message, assert_raises(Config::ConfigError) { read(text) }.message
    end
  end
end
