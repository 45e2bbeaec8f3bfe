# frozen_string_literal: true

require "logger"
require "minitest/autorun"
require "active_record"
require "carat/warmup/pools/pool_size"

module Carat
  class PoolSizeTest < Minitest::Test
    # Remembers warnings, as a ProcessLog takes them.
    class LogDouble
      def lines
        @lines ||= []
      end

      def warn(line)
        lines << line
      end
    end

    WARNING = "5 threads of a worker share 2 connections to the database \"primary\": a request waits up to 5.0 s " \
              "for a free one; set %s in config/database.yml to 5, or run fewer threads"

    # Rails 8.1 has another name for it.
    KEY = ActiveRecord.version >= Gem::Version.new("8.1") ? "max_connections" : "pool"

    def setup
      establish(KEY => 2)
    end

    def teardown
      ActiveRecord::Base.remove_connection
    end

    def test_a_pool_that_is_smaller_than_the_threads_is_named_with_both_numbers
      [KEY, "pool"].each do |key|
        establish(key => 2)

        assert_equal [format(WARNING, key)], check(:threads, 5)
      end
    end

    def test_a_pool_that_suffices_needs_no_warning
      assert_empty check(:fibers, 2)
    end

    def test_a_pool_without_a_limit_needs_no_warning
      skip "before Rails 8.1, each pool has a limit" if KEY == "pool"
      establish(KEY => -1)

      assert_empty check(:threads, 5)
    end

    private

    def establish(limits)
      ActiveRecord::Base.configurations = { "development" => { "adapter" => "sqlite3", "database" => ":memory:",
                                                               **limits } }
      ActiveRecord::Base.establish_connection(:development)
    end

    def check(option, count)
      LogDouble.new.tap { |log| Warmup::PoolSize.check(option, count, log:) }.lines
    end
  end
end
