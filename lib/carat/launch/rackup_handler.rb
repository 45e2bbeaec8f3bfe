# frozen_string_literal: true

require_relative "../cli/program"
require_relative "launch_error"
require_relative "rackup_arguments"

module Carat
  module Launch
    # What Rack::Handler::Carat (Rack 2) and Rackup::Handler::Carat (Rack 3) answer to.
    module RackupHandler
      # Starts Carat in place of this process. The application is loaded again, from the rackup file that
      # `options[:config]` names; one that comes from no file ends the process with one line. `cli` is a class like CLI.
      def run(_app, cli: CLI::Program, env: ENV, **options)
        arguments = RackupArguments.new(options)
        env.update(arguments.ruby_variables(env))
        arguments.variables.each { |name, value| env[name] = value unless settled?(env, name) }
        exit cli.new(arguments.argv, env:).run
      rescue LaunchError => e
        abort e.message
      end

      # Returns what rackup's `-O NAME=VALUE` understands, as a Hash of text by `name=VALUE`.
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
