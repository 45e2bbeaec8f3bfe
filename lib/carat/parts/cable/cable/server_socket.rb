# frozen_string_literal: true

require "json"
require_relative "../cable"
require_relative "../../../cli/control/control_client"
require_relative "../../../cli/command_error"
require_relative "../../../cli/control/control_sockets"
require_relative "../../../launch/surroundings/control_directories"

module Carat
  module Cable
    # The control socket of a server, for broadcasts of processes that the server has not forked itself: those of its
    # processes, such as Solid Queue's workers, share a control with their parent, in which frames would mix.
    class ServerSocket
      # Status of the response of a server that has no such path.
      NOT_FOUND = 404
      private_constant :NOT_FOUND

      # Returns the path of the control socket of the edge with this process id, nil when there is none.
      def self.find(edge)
        CLI::ControlSockets.new(Launch::ControlDirectories.new.searched).running[edge]
      end

      # `path` is the path of the socket.
      def initialize(path)
        @client = CLI::ControlClient.new(path)
      end

      # Does what Parts::Cable::Streams#broadcast does, for clients of this server only: a broker has had the broadcast
      # already, or there is no broker. Raises Error when the server does not take it.
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
