# frozen_string_literal: true

require "json"
require_relative "../cable"
require_relative "../../../cli/control/control_client"
require_relative "../../../cli/command_error"
require_relative "../../../cli/control/control_sockets"
require_relative "../../../launch/surroundings/control_directories"

module Carat
  module Cable
    # The control socket of a server, for broadcasts of processes that the server has not forked itself. Children of its
    # own processes, such as the workers of Solid Queue, are among them: they share the socket of their parent's
    # control, in which the frames of several processes would mix.
    class ServerSocket
      # The status of the response when the server does not know the path.
      NOT_FOUND = 404
      private_constant :NOT_FOUND

      # Returns the path of the control socket of the edge with this process id, or nil.
      def self.find(edge)
        CLI::ControlSockets.new(Launch::ControlDirectories.new.searched).running[edge]
      end

      # `path` is the path of the socket.
      def initialize(path)
        @client = CLI::ControlClient.new(path)
      end

      # Sends a broadcast, as Parts::Cable::Streams#broadcast does, to the clients of this server only: if there is a
      # broker, it has had the broadcast already. Raises Error when the server does not take the broadcast.
      def broadcast(stream, payload)
        @client.post("/broadcast", "{\"stream\":#{JSON.generate(stream)},\"message\":#{payload},\"local\":true}")
        true
      rescue CLI::ControlError => e
        raise Error, "the server has no cable (option `cable`)" if e.status == NOT_FOUND

        raise Error, e.message.delete_prefix("carat: ")
      end
    end
  end
end
