# frozen_string_literal: true

require "test_helper"
require "carat/processes/boot_failure"

module Carat
  class BootFailureTest < Minitest::Test
    BUILDER = "/usr/share/rubygems-integration/all/gems/rack-2.2.22/lib/rack/builder.rb"

    def test_place_comes_first_then_lines_of_the_application
      failure = failure_of(NameError, "undefined local variable or method `x'",
                           ["/srv/app/lib/a.rb:7:in `load'", "#{BUILDER}:116:in `eval'", "config.ru:3:in `<main>'",
                            "<internal:kernel>:1:in `tap'",
                            "/usr/lib/carat/processes/mold.rb:1:in `load'"])
      assert_equal <<~TEXT.chomp, failure
        lib/a.rb:7: undefined local variable or method `x' (NameError)
            from config.ru:3:in `<main>'
      TEXT
    end

    def test_further_lines_of_a_message_follow_its_first
      assert_equal "config.ru:1: no x (NameError)\nDid you mean?  y",
                   failure_of(NameError, "no x\nDid you mean?  y", ["config.ru:1:in `<main>'"])
    end

    def test_message_that_begins_with_an_empty_line_loses_it
      assert_equal "config.ru:1: [!] no Gemfile (IOError)",
                   failure_of(IOError, "\n[!] no Gemfile", ["config.ru:1:in `x'"])
    end

    def test_message_that_begins_with_its_place_keeps_it
      assert_equal "config.ru:2: syntax error, unexpected end (SyntaxError)",
                   failure_of(SyntaxError, "/srv/app/config.ru:2: syntax error, unexpected end", ["config.ru:1:in `x'"])
    end

    def test_error_without_place_and_message_shows_its_class
      assert_equal "IOError (IOError)", failure_of(IOError, "", nil)
    end

    def test_error_without_a_place_names_the_file
      failure = Processes::BootFailure.new(RuntimeError.new("no app"), directory: "/srv", file: "/srv/config.ru")
      assert_equal "config.ru: no app (RuntimeError)", failure.to_s
    end

    def test_long_backtrace_is_truncated
      lines = failure_of(SystemStackError, "too deep", ["config.ru:1:in `x'"] * 10_000).lines(chomp: true)
      assert_equal Processes::BootFailure::LINES_LIMIT + 2, lines.size
      assert_equal ["    from config.ru:1:in `x'", "    ..."], lines.last(2)
    end

    def test_libraries_inside_the_directory_are_left_out
      assert_equal "config.ru:1: no (LoadError)",
                   failure_of(LoadError, "no", ["/srv/app/vendor/bundle/x.rb:1:in `x'", "config.ru:1:in `<main>'"])
    end

    private

    def failure_of(type, message, backtrace)
      error = type.new(message)
      error.set_backtrace(backtrace) if backtrace
      Processes::BootFailure.new(error, directory: "/srv/app").to_s
    end
  end
end
