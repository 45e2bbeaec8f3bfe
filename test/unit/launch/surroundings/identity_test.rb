# frozen_string_literal: true

require "minitest/autorun"
require "carat/launch/surroundings/identity"

module Carat
  class IdentityTest < Minitest::Test
    ROOT = 0
    USER = 4242

    def test_without_an_option_the_server_stays_who_it_is
      [ROOT, USER].each do |euid|
        same = identity(euid:)
        assert_equal [nil, euid, {}], [same.to_h, same.uid, same.variables]
      end
    end

    def test_root_becomes_the_user_with_the_variables_of_a_login
      entry = Etc.getpwnam("nobody")
      other = identity(user: "nobody", euid: ROOT)

      assert_equal({ user: "nobody", uid: entry.uid, gid: entry.gid }, other.to_h)
      assert_equal entry.uid, other.uid
      assert_equal({ "HOME" => entry.dir, "USER" => "nobody", "LOGNAME" => "nobody" }, other.variables)
    end

    def test_numbers_need_no_entry
      assert_equal({ user: nil, uid: 54_321, gid: 54_322 }, identity(user: "54321", group: "54322", euid: ROOT).to_h)
      assert_refused("user: 54321 is unknown to this machine: set group as well", user: "54321", euid: ROOT)
    end

    def test_root_need_not_become_root
      assert_nil identity(user: "root", euid: ROOT).to_h
    end

    def test_others_can_only_stay_who_they_are
      assert_nil identity(user: USER.to_s, euid: USER).to_h
      assert_refused("user: only root can start a server of root: start carat as root, or leave user out",
                     user: "root", euid: USER)
      assert_refused("group: needs user as well", group: "root", euid: USER)
    end

    def test_root_is_warned_in_production
      assert_match(/\Athe server runs as root: set user /, identity(euid: ROOT).warning)
      assert_nil identity(euid: USER).warning
      assert_nil identity(euid: ROOT, user: "nobody").warning
      assert_nil identity(euid: ROOT, environment: "development").warning
    end

    private

    def identity(euid:, **settings)
      Launch::Identity.new({ user: nil, group: nil, environment: "production", **settings }, euid:)
    end

    def assert_refused(message, **settings)
      assert_equal message, assert_raises(Config::ConfigError) { identity(**settings).to_h }.message
    end
  end
end
