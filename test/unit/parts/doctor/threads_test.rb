# frozen_string_literal: true

require "minitest/autorun"
require "carat/parts/doctor/puma_hooks"
require "carat/parts/doctor/threads"
require "support/workplace"

module Carat
  class ThreadsTest < Minitest::Test
    include Support::Workplace

    APP = "run ->(_env) { [200, {}, []] }\n"

    def test_an_application_without_threads_is_fine
      assert_equal [:ok, "the application starts none before the fork"], finding(APP)
    end

    def test_threads_that_no_worker_has_are_named
      level, sentence = finding("Thread.new { sleep }\n#{APP}")

      assert_equal :warning, level
      assert_match(/\Ano worker has the threads .* start them in on_worker_boot: #<Thread:.*config\.ru:1/, sentence)
    end

    def test_an_application_that_cannot_be_loaded_is_a_warning
      assert_equal [:warning, "unknown: the application cannot be loaded; start it to see why"], finding("raise 'no'")
    end

    def test_an_application_that_takes_too_long_is_a_warning
      assert_equal :warning, finding("sleep", boot_timeout: 0.05).first
    end

    def test_temporary_files_of_the_application_are_removed
      app = "require \"tempfile\"\nFILE = Tempfile.new(\"carat\", #{@workplace.inspect})\n"

      assert_equal :ok, finding("#{app}#{APP}").first
      assert_empty Dir.glob("carat*")
      assert_equal :warning, finding("#{app}sleep", boot_timeout: 1).first
      assert_empty Dir.glob("carat*")
    end

    def test_a_thread_that_is_said_to_be_safe_is_not_named
      assert_equal :ok, finding("Thread.new { sleep }\n#{APP}", fork_safe_threads: ["config.ru"]).first
    end

    def test_a_library_that_waits_for_a_hook_of_puma_is_named
      write("agent.rb", "# on_worker_boot of Puma\nPuma.options[:before_worker_boot] = [] if $0 == \"puma\"\n")
      level, sentence = finding("require #{path("agent.rb").inspect}\n#{APP}", check: CLI::Doctor::PumaHooks)

      assert_equal :warning, level
      assert_match(/carat\.rb, as .*agent\.rb:2\z/, sentence)
      assert_equal :ok, finding(APP, check: CLI::Doctor::PumaHooks).first
    end

    private

    def finding(app, boot_timeout: 60, fork_safe_threads: [], check: CLI::Doctor::Threads)
      write("config.ru", app)
      check.new({ rackup: path("config.ru"), boot_timeout:, fork_safe_threads: }).finding.to_a.values_at(0, 2)
    end
  end
end
