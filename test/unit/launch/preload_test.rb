# frozen_string_literal: true

require "minitest/autorun"
require "carat/launch/preload"

module Carat
  class PreloadTest < Minitest::Test
    OURS = "/gem/carat/malloc.so"

    def test_the_allocator_is_preloaded
      assert_equal({ "LD_PRELOAD" => OURS, "CARAT_USER_PRELOAD" => "" }, variables({}))
    end

    def test_what_the_user_preloads_comes_behind_it
      user = "libfaketime.so.1:/opt/libsnoop.so"

      assert_equal({ "LD_PRELOAD" => "#{OURS}:#{user}", "CARAT_USER_PRELOAD" => user },
                   variables({ "LD_PRELOAD" => user }))
      assert_equal "#{OURS}:a.so:b.so", variables({ "LD_PRELOAD" => " a.so  b.so" })["LD_PRELOAD"]
    end

    def test_an_allocator_that_the_user_preloads_is_left_alone
      %w[libjemalloc.so.2 /usr/lib/libmimalloc.so.3 libtcmalloc_minimal.so.4].each do |name|
        assert_empty variables({ "LD_PRELOAD" => "libfaketime.so.1:#{name}" })
        assert_equal name, preload({ "LD_PRELOAD" => name }).theirs
      end
      refute_empty variables({ "LD_PRELOAD" => "/opt/jemalloc/libsnoop.so" })
    end

    def test_the_system_s_allocator_stays_when_it_is_asked_for_or_there_is_none_of_ours
      assert_empty variables({}, allocator: "system")
      assert_empty variables({}, library: nil)
    end

    def test_a_path_that_cannot_be_written_in_the_variable_is_told_and_not_preloaded
      ["/my gems/malloc.so", "/a:b/malloc.so"].each do |path|
        assert_empty variables({}, library: path)
        assert_match(/\A#{path} cannot be preloaded: /, preload({}, library: path).obstacle)
        assert_nil preload({}, library: path, allocator: "system").obstacle
      end
      [OURS, nil].each { |path| assert_nil preload({}, library: path).obstacle }
    end

    def test_the_mold_s_environment_is_what_the_user_s_was
      [{}, { "LD_PRELOAD" => "libfaketime.so.1" }].each do |user|
        environment = user.merge(variables(user))
        Launch::Preload.restore(environment)

        assert_equal user, environment.compact
      end
    end

    def test_an_environment_that_was_not_changed_stays
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
