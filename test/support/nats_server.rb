# frozen_string_literal: true

require "json"
require "socket"
require_relative "daemon"

module Support
  # A real NATS server, on the port that it got at its first start.
  class NatsServer < Daemon
    # Why it cannot run; nil when it can.
    def self.obstacle
      return "nats-pure is not installed" if Gem::Specification.find_all_by_name("nats-pure").empty?

      "nats-server is not installed" unless system("nats-server", "--version", %i[out err] => File::NULL)
    end

    def url = "nats://127.0.0.1:#{@port}"

    private

    def arguments
      ["nats-server", "--addr", "127.0.0.1", "--port", (@port || -1).to_s, "--ports_file_dir", directory]
    end

    def ready?
      ports = Dir["#{directory}/nats-server_#{pid}.ports"].first or return
      @port = JSON.parse(File.read(ports)).fetch("nats").first[/\d+\z/].to_i
      TCPSocket.new("127.0.0.1", @port).close
      true
    rescue JSON::ParserError, Errno::ECONNREFUSED
      false
    end
  end
end
