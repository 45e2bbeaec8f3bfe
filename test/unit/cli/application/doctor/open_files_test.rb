# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/application/doctor/open_files"

module Carat
  class DoctorOpenFilesTest < Minitest::Test
    # 100 clients, as many responses, a fifth of it all for bodies; 4 * (3 * 2 + 1) for workers, 64 for the rest.
    NEEDED = 341
    # Ten for clients and all that they cause.
    LEAST = 102

    # A configuration in which max_connections is chosen, or not.
    Options = Struct.new(:options, :chosen) do
      def [](name) = options.fetch(name)
      def chosen?(name) = chosen && name == :max_connections
      def capacity = options.fetch(:threads)
    end

    def test_exactly_as_many_descriptors_as_needed_are_ok
      assert_equal "ok       open files: 341 allowed, enough for 100 clients", finding(NEEDED).to_s
    end

    def test_one_descriptor_less_than_chosen_clients_need_is_a_warning
      assert_equal "warning  open files: 340 allowed, enough for 99 of max_connections 100: " \
                   "raise `ulimit -Hn` or LimitNOFILE, or lower max_connections", finding(NEEDED - 1).to_s
    end

    def test_fewer_clients_than_the_default_are_ok_as_the_server_says_nothing_either
      assert_equal "ok       open files: 340 allowed, enough for 99 clients", finding(NEEDED - 1, chosen: false).to_s
    end

    def test_a_limit_of_20_000_is_enough_for_9_000_clients
      assert_equal "ok       open files: 20000 allowed, enough for 9000 clients", finding(20_000, clients: 9000).to_s
    end

    def test_a_limit_at_which_the_server_does_not_start_is_a_problem
      assert_equal "ok       open files: 102 allowed, enough for 4 clients", finding(LEAST, chosen: false).to_s
      assert_equal "problem  open files: 101 allowed, too few for the workers: raise `ulimit -Hn` or LimitNOFILE",
                   finding(LEAST - 1, chosen: false).to_s
    end

    def test_all_fibers_of_a_worker_share_what_one_thread_needs
      assert_equal "ok       open files: 325 allowed, enough for 100 clients", finding(325, fibers: 256).to_s
    end

    private

    def finding(allowed, fibers: nil, chosen: true, clients: 100)
      options = { workers: 1..1, threads: 3, fibers:, max_connections: clients }
      CLI::Doctor::OpenFiles.new(Options.new(options, chosen), allowed:).finding
    end
  end
end
