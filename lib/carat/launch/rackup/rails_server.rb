# frozen_string_literal: true

require_relative "../../config/type/path/paths"
require_relative "rackup_handler"

module Carat
  module Launch
    # Changes `rails server` when Carat serves. The application is loaded only once, in the mold, and so this process
    # neither loads it nor logs to the terminal: the mold does (see Warmup::ConsoleLog). Rails loads this handler before
    # the application.
    module RailsServer
      # Prepends this module to the class `server` of Rails.
      def self.adapt(server)
        server.prepend(self)
      end

      private

      # Handles a pid file that is a device, such as /dev/null. Rack would take the device for the pid file of a dead
      # server, and delete it.
      def check_pid!
        return super if !carat? || !File.exist?(options[:pid]) || File.file?(options[:pid])

        path = options[:pid]
        abort "carat: #{path} is not a pid file: choose another" unless Config::Type::Paths.null?(path)

        self.options = options.except(:pid)
      end

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
