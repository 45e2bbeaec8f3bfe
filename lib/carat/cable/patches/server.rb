# frozen_string_literal: true

require_relative "../../cable"
require_relative "../handshake"

module Carat
  module Cable
    # Modules for the classes of Action Cable.
    module Patches
      # For ActionCable::Server::Base.
      module Server
        # Returns the response to a handshake of the edge.
        def call(env)
          env[FLAG] == true ? Handshake.new(self, env).response : super
        end
      end
    end
  end
end
