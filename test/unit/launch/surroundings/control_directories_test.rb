# frozen_string_literal: true

require "minitest/autorun"
require "carat/launch/surroundings/control_directories"
require_relative "../../../support/workplace"

module Carat
  class ControlDirectoriesTest < Minitest::Test
    include Support::Workplace

    # No user has this id.
    NOBODY = 4_294_967_290

    def test_the_runtime_directory_of_the_session_comes_first
      assert_equal [path("carat"), "/run/carat", "/var/tmp/carat-#{Process.euid}"], directories(@workplace).to_a
    end

    def test_a_runtime_directory_that_is_not_private_is_not_used
      File.chmod(0o750, @workplace)

      refute_includes directories(@workplace).to_a, path("carat")
      refute_includes directories(path("nowhere")).to_a, path("nowhere/carat")
      refute_includes directories("relative").to_a, "relative/carat"
    end

    def test_a_runtime_directory_of_another_user_is_not_used
      assert_equal ["/run/carat", "/var/tmp/carat-#{NOBODY}"], directories(@workplace, uid: NOBODY).to_a
    end

    def test_only_directories_that_nobody_else_can_write_to_are_searched
      Dir.mkdir("carat", 0o700)
      assert_includes directories(@workplace).searched, path("carat")

      File.chmod(0o770, "carat")
      refute_includes directories(@workplace).searched, path("carat")

      Dir.rmdir("carat")
      File.symlink(@workplace, "carat")
      refute_includes directories(@workplace).searched, path("carat")
    end

    def test_users_do_not_search_directories_of_others
      Dir.mkdir("carat", 0o755)
      assert_empty directories(@workplace, uid: NOBODY).searched
    end

    private

    def directories(session, **options)
      Launch::ControlDirectories.new(environment: { "XDG_RUNTIME_DIR" => session }, **options)
    end
  end
end
