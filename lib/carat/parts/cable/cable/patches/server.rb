# frozen_string_literal: true

require_relative "../../cable"
require_relative "../handshake"

module Carat
  module Cable
    # Modules for the classes of Action Cable.
    module Patches
      # For ActionCable::Server::Base.
      module Server
        # Returns the response to a handshake of the edge. A socket that opened in another way would stay silent.
        def call(env)
          return Handshake.new(self, env).response if env[FLAG] == true
          return super unless env["HTTP_UPGRADE"].to_s.casecmp?("websocket")

          path = env.values_at("SCRIPT_NAME", "PATH_INFO").join.chomp("/")
          logger.error("refused a WebSocket at #{path}: the option cable takes handshakes at #{Cable.path}, " \
                       "without a body")
          [404, { "content-type" => "text/plain; charset=utf-8" }, ["Page not found"]]
        end
      end
    end
  end
end
