# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/doctor/open_files"

module Carat
  class DoctorOpenFilesTest < Minitest::Test
    # 100 clients, 2 * (3 * 2 + 1) for a worker and its replacement, 64 for the rest.
    NEEDED = 178

    def test_as_many_as_are_needed_are_well
      assert_equal "ok       open files: 178 are allowed, 178 are needed", finding(NEEDED).to_s
    end

    def test_one_less_is_a_warning
      assert_equal "warning  open files: 177 are allowed, and max_connections 100 needs 178: " \
                   "raise `ulimit -Hn` or LimitNOFILE, or lower max_connections", finding(NEEDED - 1).to_s
    end

    def test_all_fibers_of_a_worker_share_what_one_thread_needs
      assert_equal "ok       open files: 170 are allowed, 170 are needed", finding(170, fibers: 256).to_s
    end

    private

    def finding(allowed, fibers: nil)
      CLI::Doctor::OpenFiles.new({ workers: 1..1, threads: 3, fibers:, max_connections: 100 }, allowed:).finding
    end
  end
end
