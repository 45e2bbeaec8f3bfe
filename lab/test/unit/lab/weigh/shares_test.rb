# frozen_string_literal: true

require "minitest/autorun"
require "carat/lab/weigh/shares"

module Carat
  class SharesTest < Minitest::Test
    # The gem of each account.
    Tree = Struct.new(:gems) do
      def gem_of(number) = gems.fetch(number)
    end

    def test_memory_of_a_gem_is_that_of_the_accounts_of_its_files
      assert_equal [["rack", 300.0, 30.0]], rows([3, 100.0, 10.0], [4, 200.0, 20.0])
    end

    def test_memory_from_before_the_boot_is_none_of_the_boot
      assert_equal [["(other memory)", 700.0, 70.0], ["(boot)", 8.0, 0.0]],
                   rows([-1, 100.0, 10.0], [0, 200.0, 20.0], [1, 8.0, 0.0], [2, 400.0, 40.0])
    end

    def test_memory_after_the_boot_is_of_the_warm_up
      assert_equal [["(warm-up)", 3.0, 3.0]], rows([5, 1.0, 2.0], [6, 2.0, 1.0])
    end

    def test_shared_memory_counts_half_and_files_what_the_kernel_says
      sums = shares([3, 100.0, 10.0], [-2, 5000.0, 0.0]).after_fork.to_h { |row| [row.name, row.pss] }

      assert_equal({ "rack" => 60.0, "(mapped files)" => 77 }, sums)
    end

    def test_machine_code_is_a_row_of_its_own
      assert_equal [["(machine code)", 400.0, 40.0]], rows([-3, 400.0, 40.0])
    end

    private

    def rows(*accounts)
      shares(*accounts).after_fork.map { |row| [row.name, row.shared, row.private] }
    end

    def shares(*accounts)
      tree = Tree.new({ 1 => "(boot)", 3 => "rack", 4 => "rack" })
      Lab::Weigh::Shares.new({ "warm_up" => 5, "after_fork" => { "accounts" => accounts, "pss_of_files" => 77 } }, tree)
    end
  end
end
