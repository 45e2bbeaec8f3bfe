# frozen_string_literal: true

require_relative "../../cli/program"
require_relative "../launch_error"
require_relative "rackup_arguments"
require_relative "rackup_options"

module Carat
  module Launch
    # The methods of Rack::Handler::Carat (Rack 2) and Rackup::Handler::Carat (Rack 3).
    module RackupHandler
      # Replaces this process with Carat. The mold loads the application again, from the rackup file
      # `options[:config]`; without one, the process prints one line and exits. `cli` is a class like CLI::Program.
      def run(_app, cli: CLI::Program, env: ENV, **options)
        RackupOptions.warnings(options).each { |line| $stderr.write("carat: #{line}\n") }
        arguments = RackupArguments.new(options)
        Dir.chdir(arguments.directory) if arguments.directory
        env.update(arguments.ruby_variables(env))
        arguments.variables.each { |name, value| env[name] = value unless settled?(env, name) }
        exit cli.new(arguments.argv, env:, pid_file: arguments.pid_file).run
      rescue LaunchError => e
        abort e.message
      end

      # Returns the options for rackup's `-O NAME=VALUE`: a Hash of descriptions by `name=VALUE`.
      def valid_options
        RackupOptions.listed
      end

      private

      def settled?(env, name)
        names = name == "CARAT_BIND" ? %w[CARAT_BIND PORT] : [name]
        names.any? { |variable| !env.fetch(variable, "").empty? }
      end
    end
  end
end
