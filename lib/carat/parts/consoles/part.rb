# frozen_string_literal: true

require_relative "../../part"

module Carat
  module Parts
    # `carat console` and `carat run`: processes that are forked from the mold for a client of the control socket.
    class Consoles < Part
      option :console, key: :enabled, group: "Service", type: :boolean, default: true, edge: true,
                       doc: "Whether the server's user and root get consoles of the application from the server."
    end
  end
end
