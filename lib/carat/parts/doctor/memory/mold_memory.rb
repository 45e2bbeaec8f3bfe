# frozen_string_literal: true

require_relative "../../../log/process_log"
require_relative "../elsewhere"

module Carat
  module CLI
    class Doctor
      # The anonymous memory of a mold in bytes: `ready` when it has prepared the application, and `peak` at most until
      # then.
      MoldMemory = Struct.new(:ready, :peak) do
        # Loads the application in a new process, and prepares it there as a mold does, without the hooks of the config
        # file. `memory` is what the server may use, in bytes. Returns nil when the application cannot be loaded.
        def self.measured(configuration, memory:)
          started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
          figures = Elsewhere.new(configuration, jit: true, memory:).call do |app|
            prepare(app, configuration, started)
            own
          end
          new(*figures) if figures
        end

        # Requires the files only here, because they need the extension, which may not be built.
        def self.prepare(app, configuration, started)
          require_relative "../../../request/env_template"
          require_relative "../../../warmup"
          log = Log::ProcessLog.new
          deadline = Warmup.deadline(started, configuration[:boot_timeout])
          Warmup.first(app, Request::EnvTemplate.of(configuration, log), configuration[:warm_up],
                       deadline:, log:, https: configuration.https?)
        end

        # The figures of this process. As the edge does, it assumes that as many pages of files were resident at the
        # peak as now: see crates/carat-machine/src/reader.rs.
        def self.own
          ready = bytes(File.read("/proc/self/smaps_rollup"), "Anonymous")
          status = File.read("/proc/self/status")
          peak, *of_files = %w[VmHWM RssFile RssShmem].map { |name| bytes(status, name) }
          [ready, [peak - of_files.sum, ready].max]
        end

        def self.bytes(text, name) = text[/^#{name}:\s+(\d+)/, 1].to_i * 1024

        private_class_method :prepare, :own, :bytes
      end
    end
  end
end
