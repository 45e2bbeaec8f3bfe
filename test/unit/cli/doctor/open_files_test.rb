# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/doctor/open_files"

module Carat
  class DoctorOpenFilesTest < Minitest::Test
    # 100 clients and the same share for responses, half of it for bodies; 4 * (3 * 2 + 1) for workers, 64 for the rest.
    NEEDED = 342
    # Ten for clients and all that they cause.
    LEAST = 102

    # A configuration in which max_connections is chosen, or not.
    Options = Struct.new(:options, :chosen) do
      def [](name) = options.fetch(name)
      def chosen?(name) = chosen && name == :max_connections
    end

    def test_exactly_as_many_descriptors_as_needed_are_ok
      assert_equal "ok       open files: 342 allowed, enough for 100 clients", finding(NEEDED).to_s
    end

    def test_one_descriptor_less_than_chosen_clients_need_is_a_warning
      assert_equal "warning  open files: 341 allowed, enough for 98 of max_connections 100: " \
                   "raise `ulimit -Hn` or LimitNOFILE, or lower max_connections", finding(NEEDED - 1).to_s
    end

    def test_fewer_clients_than_the_default_are_ok_as_the_server_says_nothing_either
      assert_equal "ok       open files: 341 allowed, enough for 98 clients", finding(NEEDED - 1, chosen: false).to_s
    end

    def test_a_limit_at_which_the_server_does_not_start_is_a_problem
      assert_equal "ok       open files: 102 allowed, enough for 4 clients", finding(LEAST, chosen: false).to_s
      assert_equal "problem  open files: 101 allowed, too few for the workers: raise `ulimit -Hn` or LimitNOFILE",
                   finding(LEAST - 1, chosen: false).to_s
    end

    def test_all_fibers_of_a_worker_share_what_one_thread_needs
      assert_equal "ok       open files: 326 allowed, enough for 100 clients", finding(326, fibers: 256).to_s
    end

    private

    def finding(allowed, fibers: nil, chosen: true)
      options = { workers: 1..1, threads: 3, fibers:, max_connections: 100 }
      CLI::Doctor::OpenFiles.new(Options.new(options, chosen), allowed:).finding
    end
  end
end
