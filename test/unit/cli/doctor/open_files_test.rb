# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/doctor/open_files"

module Carat
  class DoctorOpenFilesTest < Minitest::Test
    # 100 clients and the same share for responses, half of it for bodies; 4 * (3 * 2 + 1) for workers, 64 for the rest.
    NEEDED = 342

    def test_exactly_as_many_descriptors_as_needed_are_ok
      assert_equal "ok       open files: 342 needed, 342 allowed", finding(NEEDED).to_s
    end

    def test_one_descriptor_less_is_a_warning
      assert_equal "warning  open files: 342 needed for max_connections 100, 341 allowed: " \
                   "raise `ulimit -Hn` or LimitNOFILE, or lower max_connections", finding(NEEDED - 1).to_s
    end

    def test_all_fibers_of_a_worker_share_what_one_thread_needs
      assert_equal "ok       open files: 326 needed, 326 allowed", finding(326, fibers: 256).to_s
    end

    private

    def finding(allowed, fibers: nil)
      CLI::Doctor::OpenFiles.new({ workers: 1..1, threads: 3, fibers:, max_connections: 100 }, allowed:).finding
    end
  end
end
