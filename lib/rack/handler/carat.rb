# frozen_string_literal: true

require "rack/handler"
require_relative "../../carat/rackup_handler"

module Rack
  # Rack's registry of servers, to which Carat adds itself.
  module Handler
    # `rackup -s carat` and `rails server -u carat` with Rack 2.
    module Carat
      extend ::Carat::RackupHandler
    end

    register "carat", Carat
  end
end
