# frozen_string_literal: true

require_relative "../cli/program"
require_relative "launch_error"
require_relative "rackup_arguments"

module Carat
  module Launch
    # The methods of Rack::Handler::Carat (Rack 2) and Rackup::Handler::Carat (Rack 3).
    module RackupHandler
      # Replaces this process with Carat. The mold loads the application again, from the rackup file
      # `options[:config]`; without one, the process prints one line and exits. `cli` is a class like CLI::Program.
      def run(_app, cli: CLI::Program, env: ENV, **options)
        arguments = RackupArguments.new(options)
        env.update(arguments.ruby_variables(env))
        arguments.variables.each { |name, value| env[name] = value unless settled?(env, name) }
        exit cli.new(arguments.argv, env:).run
      rescue LaunchError => e
        abort e.message
      end

      # Returns the options for rackup's `-O NAME=VALUE`: a Hash of descriptions by `name=VALUE`.
      def valid_options
        RackupArguments.valid_options
      end

      private

      def settled?(env, name)
        names = name == "CARAT_BIND" ? %w[CARAT_BIND PORT] : [name]
        names.any? { |variable| !env.fetch(variable, "").empty? }
      end
    end
  end
end
