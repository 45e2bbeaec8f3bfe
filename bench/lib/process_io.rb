# frozen_string_literal: true

module Bench
  # Bytes that a process has written so far (/proc/PID/io): `written` by write(2) and the like, sockets included and
  # sendmsg(2) not; `disk` into pages of files that belong to a disk.
  ProcessIo = Struct.new(:written, :disk) do
    def self.of(pids)
      pids.map { |pid| parse(File.read("/proc/#{pid}/io")) }.reduce(new(0, 0)) { |sum, io| sum + io }
    end

    def self.parse(text)
      fields = text.scan(/^(\w+): (\d+)$/).to_h.transform_values(&:to_i)
      new(fields.fetch("wchar"), fields.fetch("write_bytes"))
    end

    def +(other)
      self.class.new(written + other.written, disk + other.disk)
    end

    def -(other)
      self.class.new(written - other.written, disk - other.disk)
    end
  end
end
