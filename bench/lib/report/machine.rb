# frozen_string_literal: true

require "etc"
require "time"

module Bench
  # Where and when the figures were measured, without names of hosts or users.
  module Machine
    def self.description
      [Time.now.utc.strftime("%Y-%m-%d %H:%M UTC"), processors, system, RUBY_DESCRIPTION].join("; ")
    end

    # How many processes have wanted each core in the last minute.
    def self.load = File.read("/proc/loadavg").to_f / Etc.nprocessors

    def self.processors
      model = File.read("/proc/cpuinfo")[/^model name\s*:\s*(.+)$/, 1]
      "#{Etc.nprocessors} x #{model || "unknown processor"}"
    end

    def self.system
      distribution = File.read("/etc/os-release")[/^PRETTY_NAME="?([^"\n]+)/, 1]
      "#{distribution}, Linux #{Etc.uname.fetch(:release)}"
    end

    private_class_method :processors, :system
  end
end
