# frozen_string_literal: true

module Carat
  module Warmup
    # Loads the Rack application of a rackup file.
    module Application
      module_function

      # Returns the application of the file at `path`. Raises what the file raises.
      def load(path)
        require "rack"
        require "uri" # Rack::Lint uses it without requiring it
        return Rack::Builder.parse_file(path) if Rack.release.to_i >= 3

        # Without its second argument, Rack 2 loads Rack::Server to parse options that nobody reads.
        app, = Rack::Builder.parse_file(path, nil)
        app
      end
    end
  end
end
