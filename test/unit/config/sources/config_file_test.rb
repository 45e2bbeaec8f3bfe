# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/sources/config_file"
require "carat/config/settings"
require_relative "../../../support/workplace"

module Carat
  class ConfigFileTest < Minitest::Test
    include Support::Workplace

    def test_config_file_has_two_default_places
      assert_nil Config::ConfigFile.find
      write("config/carat.rb", "")
      assert_equal path("config/carat.rb"), Config::ConfigFile.find
      write("carat.rb", "")
      error = assert_raises(Config::ConfigError) { Config::ConfigFile.find }
      assert_equal "there are carat.rb and config/carat.rb: keep one, or name it with --config", error.message
      FileUtils.rm("config/carat.rb")
      assert_equal path("carat.rb"), Config::ConfigFile.find
    end

    def test_what_is_no_file_in_a_default_place_is_not_passed_over
      write("config/carat.rb", "")
      { "is a link to gone.rb, which is not there" => -> { File.symlink("gone.rb", "carat.rb") },
        "is a directory" => -> { Dir.mkdir("carat.rb") },
        "is not a regular file" => -> { File.mkfifo("carat.rb") } }.each do |problem, make|
        make.call
        error = assert_raises(Config::ConfigError) { Config::ConfigFile.find }
        assert_equal "carat.rb: #{path("carat.rb")} #{problem}", error.message
        FileUtils.remove_entry("carat.rb")
      end
    end

    def test_config_file_sees_its_path_and_no_variable_of_carat
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

    def test_config_file_is_utf8_in_every_locale
      encoding = Encoding.default_external
      silently { Encoding.default_external = Encoding::US_ASCII }
      write("carat.rb", "# é\nenvironment \"é\"\n")

      assert_equal "é", run_file.fetch(:environment)
    ensure
      silently { Encoding.default_external = encoding }
    end

    def test_syntax_errors_name_the_line
      write("carat.rb", "workers 2\nthreads (\n")

      assert_match(/\Acarat\.rb:\d: syntax error.*expected.*\z/, assert_refused)
    end

    def test_error_in_the_file_names_the_line
      write("carat.rb", "workers 2\nInteger('x')\n")

      assert_equal 'carat.rb:2: ArgumentError: invalid value for Integer(): "x"', assert_refused
    end

    def test_a_file_of_gigabytes_in_its_place_is_refused
      write("carat.rb", "")
      File.truncate(path("carat.rb"), 20 << 30)

      assert_equal "carat.rb: it is larger than 1 MiB", assert_refused
    end

    def test_failed_require_in_the_file_names_the_line
      write("carat.rb", "\nrequire 'no/such/library'\n")

      assert_equal "carat.rb:2: LoadError: cannot load such file -- no/such/library", assert_refused
    end

    def test_cause_is_kept
      write("carat.rb", "raise IOError, %(several\\nlines)\n")
      error = assert_raises(Config::ConfigError) { run_file }

      assert_equal "carat.rb:1: IOError: several", error.message
      assert_instance_of IOError, error.cause
    end

    def test_file_outside_the_directory_has_an_absolute_path
      write("below/carat.rb", "threads 0\n")
      Dir.chdir("config.d".tap { |name| Dir.mkdir(name) }) do
        assert_equal "#{path("below/carat.rb")}:1: threads: 0 is not a whole number from 1 to 100",
                     assert_refused(path("below/carat.rb"))
      end
    end

    private

    def run_file(file = path("carat.rb"))
      settings = Config::Settings.new
      Config::ConfigFile.new(file).run(settings, Config::Hooks.new, Config::Processes.new)
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
