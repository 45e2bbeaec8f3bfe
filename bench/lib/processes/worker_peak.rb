# frozen_string_literal: true

module Bench
  # The most private memory that any worker of a server has, while workers come and go.
  module WorkerPeak
    INTERVAL_SECONDS = 0.05

    # Reads the workers' memory while the block runs; returns [most bytes, number of readings] and the block's value.
    def self.watch(server, role)
      finished = Queue.new
      watcher = Thread.new { read_until(finished, server, role) }
      value = yield
      finished.close
      [watcher.value, value]
    ensure
      finished.close
      watcher.join
    end

    def self.read_until(finished, server, role)
      most = readings = 0
      until finished.closed?
        sizes = server.members_by_role.fetch(role, []).map { |member| member.memory.private_bytes }
        most = [most, *sizes].max
        readings += sizes.size
        sleep(INTERVAL_SECONDS)
      end
      [most, readings]
    end

    private_class_method :read_until
  end
end
