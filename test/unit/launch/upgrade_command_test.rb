# frozen_string_literal: true

require "minitest/autorun"
require "rbconfig"
require "carat/launch/upgrade_command"

module Carat
  class UpgradeCommandTest < Minitest::Test
    EXECUTABLE = File.expand_path("../../../exe/carat", __dir__)

    def test_words_become_flags
      words = %w[workers=1..2 rackup=config.ru bind=tcp://h:1 bind=tcp://h:2 compress=true]

      assert_equal %w[--workers=1..2 --rackup=config.ru --bind=tcp://h:1 --bind=tcp://h:2 --compress=true],
                   command(words:).drop(2)
    end

    def test_script_is_run_again_by_the_path_that_the_user_took
      assert_equal "/srv/current/exe/carat", command(program: "/srv/current/exe/carat")[1]
      assert_equal File.join(Dir.pwd, "carat"), command(program: "carat")[1]
    end

    def test_other_programs_such_as_rackup_start_carat_itself
      assert_equal EXECUTABLE, command(program: "/usr/bin/rackup")[1]
    end

    def test_of_a_gem_the_version_that_is_installed_by_then_runs
      _ruby, flag, code, separator, *flags = command(words: ["workers=2"], gems: { "carat" => nil })

      assert_equal ["-e", "--", ["--workers=2"]], [flag, separator, flags]
      assert_match(/activate_bin_path\("carat", "carat", ">= 0"\)/, code)
    end

    private

    def command(words: [], gems: {}, program: EXECUTABLE)
      Launch::UpgradeCommand.new(words, gems:, program:).to_a
    end
  end
end
