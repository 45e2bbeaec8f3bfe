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
        require "uri" # Rack::Lint uses it, and does not require it
        return Rack::Builder.parse_file(path) if Rack.release.to_i >= 3

        # The second argument keeps Rack 2 from loading Rack::Server, to parse options that nobody reads.
        app, = Rack::Builder.parse_file(path, nil)
        app
      end

      # Raises ConfigError for a file of Ruby code that is no application. Rack expects of a file not called *.ru that
      # it defines a constant: `shop_app.rb` defines ShopApp.
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
