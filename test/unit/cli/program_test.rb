# frozen_string_literal: true

require "minitest/autorun"
require "open3"
require "rbconfig"
require "stringio"
require "carat/cli/program"
require "carat/version"
require_relative "../../support/workplace"

module Carat
  class ProgramTest < Minitest::Test
    include Support::Workplace

    COMMAND = [RbConfig.ruby, File.expand_path("../../../exe/carat", __dir__)].freeze

    # Stands where the launcher is, and remembers what it was given instead of becoming the edge.
    class LauncherDouble
      attr_reader :configuration, :words, :pid_file

      def initialize(problem = nil)
        @problem = problem
      end

      def new(configuration, words, pid_file:)
        @configuration = configuration
        @words = words
        @pid_file = pid_file
        self
      end

      def launch(log:) # rubocop:disable Lint/UnusedMethodArgument -- as the launcher has it
        raise @problem if @problem
      end
    end

    def test_launcher_receives_the_configuration_and_its_words
      launcher = LauncherDouble.new

      assert_equal 0, run_cli("-w2", launcher:)
      assert_equal 2..2, launcher.configuration[:workers]
      assert_equal ["workers=2"], launcher.words
    end

    def test_failed_launch_prints_one_line_and_exits_with_1
      assert_equal 1, run_cli(launcher: LauncherDouble.new(Launch::LaunchError.new("carat: not built")))
      assert_equal "carat: not built\n", @err.string
    end

    WORKERS = 'a number of workers up to 10000, such as 2, 1..8 or "auto"'

    def test_wrong_setting_prints_one_line_and_exits_with_78
      write("bad.rb", "\n\n\nworkers 'many'\n")
      write("broken.rb", "workers (\n")

      assert_equal [78, "--workers: \"many\" is not #{WORKERS}\n"], outcome("--workers=many")
      assert_equal [78, "WEB_CONCURRENCY: \"x\" is not #{WORKERS}\n"],
                   outcome(env: { "WEB_CONCURRENCY" => "x" })
      assert_equal [78, "bad.rb:4: workers: \"many\" is not #{WORKERS}\n"], outcome("-Cbad.rb")
      status, text = outcome("-Cbroken.rb")

      assert_equal [78, 1], [status, text.lines.size]
    end

    def test_check_summarizes_the_configuration_in_one_line
      assert_equal 0, run_cli("check", "-w2", "-b", "tcp://127.0.0.1:0")
      assert_equal "carat: the configuration is valid: #{path("config.ru")}, workers 2, threads 3, tcp://127.0.0.1:0\n",
                   @out.string
      assert_equal 0, run_cli("check", "-f256", "-b", "tcp://127.0.0.1:0")
      assert_includes @out.string, "workers 1, fibers 256, tcp"
    end

    def test_full_disk_at_standard_output_is_one_line
      %w[--help --version].each do |flag|
        reader, writer = IO.pipe
        pid = spawn(*COMMAND, flag, out: "/dev/full", err: writer)
        writer.close
        error = reader.read
        assert_equal [1, "carat: standard output: No space left on device\n"], [Process.wait2(pid)[1].exitstatus, error]
      end
    end

    def test_argument_is_the_rackup_file
      write("other.ru", "")

      [%w[other.ru -w2], %w[-- other.ru], %w[serve other.ru]].each do |words|
        launcher = LauncherDouble.new
        run_cli(*words, launcher:)
        assert_equal path("other.ru"), launcher.configuration[:rackup]
        assert_includes launcher.words, "rackup=other.ru"
      end
    end

    def test_argument_that_is_no_file_is_refused
      assert_equal [78, "carat: there is no file #{path("b.ru")}; " \
                        "start carat beside it, or name one: carat path/to/config.ru\n"], outcome("b.ru")
      assert_equal [78, "b.ru: one rackup file is enough\n"], outcome("config.ru", "b.ru")
    end

    def test_doctor_prints_a_line_for_each_check
      assert_equal 0, run_cli("doctor", "--spool-dir", @workplace)
      checks = CLI::Doctor::CHECKS.size + Parts.sum { |part| part.doctor_checks.size }
      assert_equal 1 + checks, @out.string.lines.grep(/\A(ok|warning) +[a-z_ ]+: /).size
    end

    def test_doctor_fails_on_a_problem_and_on_a_wrong_configuration
      assert_equal 1, run_cli("doctor", "--spool-dir", "/proc/self/task")
      assert_match(/^problem  spool_dir: no file can be created/, @out.string)
      assert_equal [78, "--workers: needs a value\n"], outcome("doctor", "--workers")
    end

    def test_help_and_version_need_no_application
      File.delete("config.ru")

      assert_equal 0, run_cli("--help")
      assert_match(/\AUsage: carat /, @out.string)
      assert_equal 0, run_cli("--version")
      assert_equal "carat #{VERSION}\n", @out.string
    end

    def test_command_exits_with_the_status
      assert_equal ["carat #{VERSION}\n", "", 0], command("--version")
      File.delete("config.ru")
      problem = "rackup: there is no file #{path("config.ru")}; start carat beside it, or name one: " \
                "carat path/to/config.ru\n"

      assert_equal ["", problem, 78], command("check")
    end

    def test_without_its_gem_a_subcommand_of_the_lab_says_how_to_get_it
      %w[exe lib].each { |name| FileUtils.cp_r(File.expand_path("../../../#{name}", __dir__), path(name)) }
      program = [RbConfig.ruby, path("exe/carat")]
      missing = "carat: leak is part of the gem carat-lab: add it to the development group: " \
                "bundle add carat-lab --group development\n"

      assert_equal ["", missing, 78], run_program(*program, "leak")
      assert_equal ["", missing, 78], run_program(*program, "help", "leak")
      assert_includes run_program(*program, "help").first,
                      "weigh leak profile allocations ips load compare\n  Get it with bundle add carat-lab "
    end

    private

    def outcome(...)
      [run_cli(...), @err.string]
    end

    def run_cli(*words, env: {}, **options)
      @out = StringIO.new
      @err = StringIO.new
      CLI::Program.new(words, env:, out: @out, err: @err, **options).run
    end

    def command(*words)
      run_program(*COMMAND, *words)
    end

    def run_program(*words)
      out, err, status = Open3.capture3({ "PORT" => nil, "RUBYLIB" => nil, "WEB_CONCURRENCY" => nil }, *words)
      [out, err, status.exitstatus]
    end
  end
end
