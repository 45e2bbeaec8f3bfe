# frozen_string_literal: true

module Carat
  module Parts
    module Import
      # Hints for users of Puma, about flags and about methods of the config file.
      module PumaHints
        NO_DAEMON = "a service manager, such as systemd (docs/services.md): Carat stays in the foreground, where " \
                    "whoever started it can watch, log, and restart it"
        NO_QUIET = "nothing: --access-log turns the access log on"
        FLAGS = {
          "-p" => "PORT=3000, or --bind 'tcp://*:3000'", "--port" => "PORT=3000, or --bind 'tcp://*:3000'",
          "-d" => NO_DAEMON, "--daemon" => NO_DAEMON, "--daemonize" => NO_DAEMON,
          "--preload" => "nothing: Carat always loads the application before it forks",
          "-S" => "`carat status`", "--state" => "`carat status`", "--control-url" => "`carat status`",
          "-q" => NO_QUIET, "--quiet" => NO_QUIET,
          "--redirect-stdout" => "--log FILE", "--redirect-stderr" => "--log FILE", "--dir" => "cd DIR && carat"
        }.freeze

        private_constant :NO_DAEMON, :NO_QUIET, :FLAGS

        module_function

        # Returns `; in place of Puma's -p use ...`, or an empty String for a flag that is not Puma's.
        def flag(name)
          FLAGS.key?(name) ? "; in place of Puma's #{name} use #{FLAGS.fetch(name)}" : ""
        end

        # Returns the end of a message about the method `name`, a Symbol, in the file at `path`. Returns an empty String
        # for a method that Puma does not have.
        def method(name, path)
          require_relative "puma_dsl" # Here, because that file requires the parts.
          CLI::Import::PumaDSL::NAMES.include?(name) ? "; it is Puma's: carat import #{path} prints the carat.rb" : ""
        end

        # Returns the end of a message about two numbers where one is expected: `-t 5:5`, `threads 5, 5`.
        def threads(values)
          numbers = values.size == 1 ? values.first.to_s.split(":") : values
          numbers.size == 2 ? "; Puma's minimum and maximum are one number here: #{numbers.last}" : ""
        end
      end
    end
  end
end
