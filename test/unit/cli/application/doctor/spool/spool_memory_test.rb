# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/application/doctor/spool/spool_memory"

module Carat
  class DoctorSpoolMemoryTest < Minitest::Test
    DEVICE = File.stat("/").then { |stat| "#{stat.dev_major}:#{stat.dev_minor}" }

    def test_disk_is_ok
      assert_equal :ok, finding("36 1 #{DEVICE} / / rw shared:1 master:2 - ext4 /dev/vda rw\n").level
    end

    %w[tmpfs ramfs].each do |type|
      define_method("test_a_#{type}_is_a_warning") do
        found = finding("9 1 0:9999 / /x rw - ext4 x rw\n36 1 #{DEVICE} / / rw - #{type} carat rw,size=1m\n")

        assert_equal "warning  spool_dir: / is a #{type}: files there take memory; " \
                     "set spool_dir to a directory on a disk", found.to_s
      end
    end

    def test_unlisted_file_system_counts_as_a_disk
      assert_equal :ok, finding("").level
    end

    def test_mount_table_of_the_kernel_is_parsed
      memory = CLI::Doctor::SpoolMemory.new({ spool_dir: "/dev/shm" }).finding.level

      assert_equal File.read("/proc/mounts").match?(%r{ /dev/shm tmpfs }) ? :warning : :ok, memory
    end

    private

    def finding(mounts)
      CLI::Doctor::SpoolMemory.new({ spool_dir: "/" }, mounts:).finding
    end
  end
end
