# frozen_string_literal: true

require "redis"
require "socket"
require_relative "daemon"

module Support
  # A real Redis on a Unix socket. It writes nothing to disk.
  #
  #   Redis.new(path: Support::RedisServer.shared.path).ping # => "PONG"
  class RedisServer < Daemon
    SETTINGS = { port: 0, save: "", appendonly: "no", daemonize: "no", logfile: "" }.freeze

    # Its Unix socket.
    def path
      File.join(directory, "socket")
    end

    # The number of connected clients, without the one that asks.
    def connections
      ask { |redis| redis.info("clients").fetch("connected_clients").to_i - 1 }
    end

    # The number of clients that wait for an element of a list.
    def blocked
      ask { |redis| redis.info("clients").fetch("blocked_clients").to_i }
    end

    private

    # Yields a new connection.
    def ask
      redis = Redis.new(path: path)
      yield redis
    ensure
      redis&.close
    end

    def arguments
      settings = SETTINGS.merge(unixsocket: path, dir: directory)
      ["redis-server", *settings.flat_map { |name, value| ["--#{name}", value.to_s] }]
    end

    def ready?
      UNIXSocket.new(path).close
      true
    rescue Errno::ENOENT, Errno::ECONNREFUSED
      false
    end
  end
end
