# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/application/doctor/spool/spool_room"

module Carat
  class DoctorSpoolRoomTest < Minitest::Test
    LIMITS = { spool_dir: "/var/tmp", max_body: 1 << 30, spool_limit: 8 << 30 }.freeze

    def test_enough_space_for_the_limits_is_ok
      assert_equal "ok       spool_dir: /var/tmp has 8 GiB free", finding(8 << 30).to_s
    end

    def test_limit_above_the_free_space_is_a_warning_that_names_it
      assert_equal "warning  spool_dir: /var/tmp has 7.5 GiB free, but spool_limit allows 8 GiB", finding(15 << 29).to_s
      assert_equal "warning  spool_dir: /var/tmp has 0 B free, but max_body allows 1 GiB", finding(0).to_s
    end

    def test_free_space_comes_from_df
      sentence = CLI::Doctor::SpoolRoom.new({ spool_dir: "/var/tmp", max_body: 1, spool_limit: 1 }).finding.sentence

      assert_match(%r{\A/var/tmp has \d+(\.\d)? [KMGT]iB free\z}, sentence)
    end

    private

    def finding(free)
      CLI::Doctor::SpoolRoom.new(LIMITS, free:).finding
    end
  end
end
