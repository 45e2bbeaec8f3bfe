# frozen_string_literal: true

module Bench
  # The memory of one process in bytes, from /proc/PID/smaps_rollup.
  Memory = Struct.new(:pss, :private_bytes) do
    # Raises Errno::ENOENT or Errno::ESRCH when the process has gone.
    def self.of(pid)
      parse(File.read("/proc/#{pid}/smaps_rollup"))
    end

    def self.parse(text)
      kilobytes = text.scan(/^(\w+):\s+(\d+) kB$/).to_h.transform_values(&:to_i)
      owned = kilobytes.values_at("Private_Clean", "Private_Dirty", "Private_Hugetlb")
      new(kilobytes.fetch("Pss") * 1024, owned.compact.sum * 1024)
    end
  end
end
