# frozen_string_literal: true

module Carat
  module Warmup
    # The Rack application in a rackup file.
    module Application
      module_function

      # Returns the application that the file at `path` makes; raises whatever it raises.
      def load(path)
        require "rack"
        require "uri" # Rack::Lint uses it without saying so
        return Rack::Builder.parse_file(path) if Rack.release.to_i >= 3

        # Without its second argument, Rack 2 would load Rack::Server for options that nobody reads.
        app, = Rack::Builder.parse_file(path, nil)
        app
      end
    end
  end
end
