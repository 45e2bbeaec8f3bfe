# frozen_string_literal: true

require_relative "rackup_handler"

module Carat
  module Launch
    # What `rails server` does differently when Carat serves: the application is loaded in the mold, and so only once,
    # and the mold logs to the console (see Warmup::ConsoleLog). Rails loads the handler before the application.
    module RailsServer
      # Prepends this module to the class `server` of Rails.
      def self.adapt(server)
        server.prepend(self)
      end

      private

      def wrapped_app
        super unless carat?
      end

      def log_to_stdout
        super unless carat?
      end

      def carat?
        server.is_a?(RackupHandler)
      end
    end
  end
end
