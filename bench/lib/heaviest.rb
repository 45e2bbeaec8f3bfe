# frozen_string_literal: true

module Bench
  # Watches the private memory of a server's workers, which come and go.
  class Heaviest
    INTERVAL_SECONDS = 0.05

    # bytes: the most that any of them had; readings: how many there were of it.
    Peak = Struct.new(:bytes, :readings)

    # Reads the memory of this Server's workers while the block runs; gives the Peak and the block's value.
    def self.watch(server, role)
      finished = Queue.new
      watcher = Thread.new { new(server, role).watch_until(finished) }
      value = yield
      finished.close
      [watcher.value, value]
    ensure
      finished.close
      watcher.join
    end

    def initialize(server, role)
      @server = server
      @role = role
      @peak = Peak.new(0, 0)
    end

    def watch_until(finished)
      until finished.closed?
        @server.members_by_role.fetch(@role, []).each { |member| add(member.memory.private_bytes) }
        sleep(INTERVAL_SECONDS)
      end
      @peak
    end

    def add(bytes)
      @peak.bytes = [@peak.bytes, bytes].max
      @peak.readings += 1
    end
  end
end
