# frozen_string_literal: true

require "rackup/handler"
require_relative "../../carat/rackup_handler"

module Rackup
  # Rackup's registry of servers, to which Carat adds itself.
  module Handler
    # `rackup -s carat` and `rails server -u carat` with Rack 3.
    module Carat
      extend ::Carat::RackupHandler
    end

    register :carat, Carat
  end
end
