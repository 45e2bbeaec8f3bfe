# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/config_file"
require "carat/config/settings"
require_relative "../../support/workplace"

module Carat
  class ConfigFileTest < Minitest::Test
    include Support::Workplace

    def test_the_file_is_looked_for_in_two_places
      assert_nil Config::ConfigFile.find
      write("config/carat.rb", "")
      assert_equal path("config/carat.rb"), Config::ConfigFile.find
      write("carat.rb", "")
      assert_equal path("carat.rb"), Config::ConfigFile.find
    end

    def test_the_file_sees_its_own_path_and_nothing_of_ours
      write("sizes.rb", "WORKERS = 3\n")
      write("carat.rb", <<~RUBY)
        require_relative "sizes"
        raise local_variables.inspect unless (local_variables - TOPLEVEL_BINDING.local_variables).empty?
        raise "sees Carat::VERSION" if defined?(VERSION)
        raise __FILE__ unless __FILE__ == File.expand_path("carat.rb") && __dir__ == Dir.pwd
        workers WORKERS
      RUBY

      assert_equal 3..3, run_file.fetch(:workers)
    end

    def test_text_is_utf8_whatever_the_locale_says
      encoding = Encoding.default_external
      silently { Encoding.default_external = Encoding::US_ASCII }
      write("carat.rb", "# é\nenvironment \"é\"\n")

      assert_equal "é", run_file.fetch(:environment)
    ensure
      silently { Encoding.default_external = encoding }
    end

    def test_syntax_errors_name_the_line
      write("carat.rb", "workers 2\nthreads (\n")

      assert_match(/\Acarat\.rb:\d: syntax error.*unexpected.*\z/, assert_refused)
    end

    def test_what_the_file_raises_names_the_line
      write("carat.rb", "workers 2\nInteger('x')\n")

      assert_equal 'carat.rb:2: ArgumentError: invalid value for Integer(): "x"', assert_refused
    end

    def test_what_the_file_cannot_load_names_the_line
      write("carat.rb", "\nrequire 'no/such/library'\n")

      assert_equal "carat.rb:2: LoadError: cannot load such file -- no/such/library", assert_refused
    end

    def test_the_cause_is_kept
      write("carat.rb", "raise IOError, %(several\\nlines)\n")
      error = assert_raises(Config::ConfigError) { run_file }

      assert_equal "carat.rb:1: IOError: several", error.message
      assert_instance_of IOError, error.cause
    end

    def test_a_file_elsewhere_is_named_by_its_whole_path
      write("below/carat.rb", "threads 0\n")
      Dir.chdir("config.d".tap { |name| Dir.mkdir(name) }) do
        assert_equal "#{path("below/carat.rb")}:1: threads: 0 is not a whole number from 1 to 100",
                     assert_refused(path("below/carat.rb"))
      end
    end

    private

    def run_file(file = path("carat.rb"))
      settings = Config::Settings.new
      Config::ConfigFile.new(file).run(settings, Config::Hooks.new)
      settings
    end

    def assert_refused(file = path("carat.rb"))
      assert_raises(Config::ConfigError) { run_file(file) }.message
    end

    def silently
      verbose = $VERBOSE
      $VERBOSE = nil
      yield
    ensure
      $VERBOSE = verbose
    end
  end
end
