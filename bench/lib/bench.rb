# frozen_string_literal: true

# Measures Carat beside other servers. Each file in the folders below defines the constant after which it is named.
module Bench
  APPS = File.expand_path("../apps", __dir__)
  EXAMPLES = File.expand_path("../../examples", __dir__)

  # The benchmark cannot run as requested; the message is one line for the user.
  class Failure < StandardError
  end

  Dir[File.join(__dir__, "*/*.rb")].each do |path|
    autoload File.basename(path, ".rb").split("_").map(&:capitalize).join, path
  end

  # Seconds of the monotonic clock.
  def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
