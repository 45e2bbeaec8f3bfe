# frozen_string_literal: true

require "minitest/autorun"
require "carat/launch/surroundings/preload"

module Carat
  class PreloadTest < Minitest::Test
    OURS = "/gem/carat/malloc.so"

    def test_allocator_is_preloaded
      assert_equal({ "LD_PRELOAD" => OURS, "CARAT_USER_PRELOAD" => "" }, variables({}))
    end

    def test_libraries_of_the_user_follow_the_allocator
      user = "libfaketime.so.1:/opt/libsnoop.so"

      assert_equal({ "LD_PRELOAD" => "#{OURS}:#{user}", "CARAT_USER_PRELOAD" => user },
                   variables({ "LD_PRELOAD" => user }))
      assert_equal "#{OURS}:a.so:b.so", variables({ "LD_PRELOAD" => " a.so  b.so" })["LD_PRELOAD"]
    end

    def test_allocator_of_the_user_wins
      %w[libjemalloc.so.2 /usr/lib/libmimalloc.so.3 libtcmalloc_minimal.so.4].each do |name|
        assert_empty variables({ "LD_PRELOAD" => "libfaketime.so.1:#{name}" })
        assert_equal name, preload({ "LD_PRELOAD" => name }).theirs
      end
      refute_empty variables({ "LD_PRELOAD" => "/opt/jemalloc/libsnoop.so" })
    end

    def test_allocator_of_the_system_is_used_when_chosen_or_unbuilt
      assert_empty variables({}, allocator: "system")
      assert_empty variables({}, library: nil)
    end

    def test_path_that_ld_preload_cannot_hold_is_reported
      ["/my gems/malloc.so", "/a:b/malloc.so"].each do |path|
        assert_empty variables({}, library: path)
        assert_match(/\A#{path} cannot be preloaded: /, preload({}, library: path).obstacle)
        assert_nil preload({}, library: path, allocator: "system").obstacle
      end
      [OURS, nil].each { |path| assert_nil preload({}, library: path).obstacle }
    end

    def test_environment_of_the_user_is_restored_in_the_mold
      [{}, { "LD_PRELOAD" => "libfaketime.so.1" }].each do |user|
        environment = user.merge(variables(user))
        Launch::Preload.restore(environment)

        assert_equal user, environment.compact
      end
    end

    def test_unchanged_environment_stays
      environment = { "LD_PRELOAD" => "libjemalloc.so.2" }
      Launch::Preload.restore(environment)

      assert_equal({ "LD_PRELOAD" => "libjemalloc.so.2" }, environment)
    end

    private

    def variables(...)
      preload(...).variables
    end

    def preload(environment, allocator: "jemalloc", library: OURS)
      Launch::Preload.new({ allocator: }, environment, library:)
    end
  end
end
