# frozen_string_literal: true

require_relative "../../cable"
require_relative "../handshake"

module Carat
  module Cable
    # Modules that are prepended to classes of Action Cable.
    module Patches
      # For ActionCable::Server::Base.
      module Server
        # Returns the response to a handshake that the edge passes on. Refuses a WebSocket that opens in another way,
        # because no broadcast would reach it.
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
