# frozen_string_literal: true

require "tempfile"

module Bench
  # Counts the files that processes create, named or not, with strace(1).
  module FileCreations
    CALLS = "open,openat,openat2,creat,memfd_create"
    CREATION = /O_CREAT|O_TMPFILE|\bcreat\(|memfd_create\(/
    ATTACH_SECONDS = 10

    # How many files the processes created while the block ran; nil without strace.
    def self.count(pids, &)
      return unless Executable.present?("strace")

      Tempfile.create("bench-strace-") do |report|
        trace(pids, report.path, &)
        count_in(report.read)
      end
    end

    def self.count_in(report) = report.scan(CREATION).size

    def self.trace(pids, path)
      words = pids.flat_map { |pid| ["-p", pid.to_s] }
      reader, writer = IO.pipe
      tracer = Process.spawn("strace", "-f", "-e", "trace=#{CALLS}", "-o", path, *words, err: writer)
      await_attached(reader, pids.size)
      yield
    ensure
      Process.kill(:INT, tracer)
      Process.wait(tracer)
      [reader, writer].each(&:close)
    end

    # strace prints one line for each process.
    def self.await_attached(messages, count)
      count.times do
        line = messages.wait_readable(ATTACH_SECONDS) && messages.gets
        raise Failure, "strace could not attach: #{line || "no output"}" unless line&.include?("attached")
      end
    end

    private_class_method :trace, :await_attached
  end
end
