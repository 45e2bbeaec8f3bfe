# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/application/doctor/threads"
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

    private

    def finding(app, boot_timeout: 60)
      write("config.ru", app)
      CLI::Doctor::Threads.new({ rackup: path("config.ru"), boot_timeout: }).finding.to_a.values_at(0, 2)
    end
  end
end
