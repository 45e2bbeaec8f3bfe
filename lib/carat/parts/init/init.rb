# frozen_string_literal: true

require_relative "../../config/config_error"
require_relative "../../config/sources/config_file"
require_relative "../../config/sources/flags"
require_relative "application"
require_relative "config_text"
require_relative "../../parts"
require_relative "../../cli/subcommand"

module Carat
  module CLI
    # `carat init`.
    class Init
      include Subcommand

      # The words after `Usage: carat` in the help.
      USAGE = "init"

      # The sentence in the list of subcommands.
      SUMMARY = "Writes a carat.rb with comments for the application here."

      # The path of the file that is written.
      PATH = "carat.rb"
      LEGEND = <<~TEXT
        Looks at config.ru, the Gemfile, config/, and public/, and executes none of it.
        A configuration that is there stays as it is. `carat import` translates one of
        Puma.
      TEXT
      private_constant :LEGEND

      # Writes the file and says what comes next. Raises ConfigError.
      def run
        refuse_arguments
        found = Config::ConfigFile::PLACES.find { |path| File.exist?(path) }
        raise Config::ConfigError, "#{found}: is there already; carat init overwrites nothing" if found

        application = Application.new
        # EXCL, because another process may have created the file in the meantime.
        File.write(PATH, ConfigText.new(application).to_s, flags: File::EXCL)
        say("carat: #{PATH}: written for #{application.name}; carat check validates it, carat starts the server",
            *foreign_configurations)
      rescue SystemCallError => e
        raise Config::ConfigError, e.message.sub(/ @ \w+/, "")
      end

      private

      # No options: the subcommand does not read the configuration of a server.
      def flags
        Config::Flags.new(options: [], help: "carat init --help")
      end

      def foreign_configurations
        Parts.filter_map(&:foreign_configuration).map do |path, command|
          "carat: #{path} is not read; to take over what it says: #{command}"
        end
      end
    end
  end
end
