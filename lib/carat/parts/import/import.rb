# frozen_string_literal: true

require_relative "../../cli/subcommand"
require_relative "../../config/config_error"
require_relative "../../config/sources/flags"
require_relative "../../parts"
require_relative "puma_file"

module Carat
  module CLI
    # `carat import`.
    class Import
      include Subcommand

      # The words after `Usage: carat` in the help.
      USAGE = "import [config/puma.rb]"

      # The sentence in the list of subcommands.
      SUMMARY = "Prints the carat.rb for a configuration of Puma."

      PLACES = Parts::Import::Part::PLACES
      LEGEND = <<~TEXT
        Options and hooks become those of Carat, and the Ruby code around them stays
        as it is, such as ENV.fetch("PORT", 3000). Where Carat has no counterpart, the
        line becomes a comment that says what to do:

          carat import config/puma.rb > carat.rb
          carat check
      TEXT
      THRUSTER = <<~TEXT
        # Thruster: Carat does its work. Remove gem "thruster" and bin/thrust, start `bundle exec carat` instead, and see
        # the table of its variables in docs/migration.md.
      TEXT
      ENTRYPOINT = <<~TEXT
        # bin/docker-entrypoint prepares the database for `./bin/rails server` alone. It has to ask for carat instead:
        # if [ "${*:1:3}" == "bundle exec carat" ]; then
      TEXT
      # The hint for each file; it is printed if the file exists.
      HINTS = { "bin/thrust" => THRUSTER, "bin/docker-entrypoint" => ENTRYPOINT }.freeze
      private_constant :ENTRYPOINT, :LEGEND, :HINTS, :PLACES, :THRUSTER

      # Prints the carat.rb. Raises ConfigError when there is no configuration of Puma, or when it is not valid Ruby.
      def run
        path = single_argument("file") || PLACES.find { |place| File.file?(place) }
        raise Config::ConfigError, "there is no #{PLACES.join(" or ")}; name the file: carat import FILE" unless path

        hints = Parts.map(&:import_hints).reduce(HINTS) { |all, more| all.merge(more) { |_, *texts| texts.join } }
        say(PumaFile.new(path, read(path)).to_carat, *hints.filter_map { |file, hint| hint if File.file?(file) })
      end

      private

      # No options: the subcommand does not read the configuration of a server.
      def flags
        Config::Flags.new(options: [], help: "carat import --help")
      end

      def read(path)
        File.read(path, encoding: Encoding::UTF_8)
      rescue SystemCallError => e
        raise Config::ConfigError, "#{path}: #{e.message.sub(/ @.*/, "")}; name the file: carat import FILE"
      end
    end
  end
end
