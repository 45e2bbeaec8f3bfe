# frozen_string_literal: true

require_relative "../config/config_error"

module Carat
  module Warmup
    # Loads the Rack application of a rackup file.
    module Application
      module_function

      # Returns the application of the file at `path`. Raises what the file raises.
      def load(path)
        refuse_code(path)
        require "rack"
        require "uri" # Rack::Lint uses it without requiring it
        return Rack::Builder.parse_file(path) if Rack.release.to_i >= 3

        # Without its second argument, Rack 2 loads Rack::Server to parse options that nobody reads.
        app, = Rack::Builder.parse_file(path, nil)
        app
      end

      # Rack takes a file that is not called *.ru for one that defines a constant: that of `shop_app.rb` is ShopApp.
      def refuse_code(path)
        return if path.end_with?(".ru") || !path.end_with?(".rb")

        name = File.basename(path, ".rb").split("_").map(&:capitalize).join
        text = File.read(path, encoding: Encoding::BINARY)
        return if text.match?(/\b#{Regexp.escape(name)}\b/)

        raise Config::ConfigError, "#{File.basename(path)} is no rackup file, and defines no #{name}: " \
                                   "name a rackup file, which ends with `run ...`: carat config.ru"
      end
      private_class_method :refuse_code
    end
  end
end
