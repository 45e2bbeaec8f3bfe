# frozen_string_literal: true

require_relative "../config/options"
require_relative "surroundings/ruby_program"
require_relative "surroundings/working_directory"

module Carat
  module Launch
    # The command that starts a new server with the same options. The Ruby and the Carat that are installed when it runs
    # count, not those of this process.
    class UpgradeCommand
      # The Ruby code that runs the gem: RubyGems finds its newest version, Bundler the version of the Gemfile.
      GEM = 'load Gem.activate_bin_path("carat", "carat", ">= 0")'
      # The executable in the directory of this library.
      EXECUTABLE = File.expand_path("../../../exe/carat", __dir__)
      private_constant :GEM, :EXECUTABLE

      # `words` come from Flags#words; `gems` are the gems that are loaded, by name, and `program` is the script that
      # Ruby runs.
      def initialize(words, gems: Gem.loaded_specs, program: $PROGRAM_NAME)
        @words = words
        @gems = gems
        @program = program
      end

      # Returns the words of the command line.
      def to_a
        [RubyProgram.path, *(@gems.key?("carat") ? ["-e", GEM, "--"] : [script]), *flags]
      end

      private

      def flags
        @words.map do |word|
          name, text = word.split("=", 2)
          "#{Config::Options.fetch(name.to_sym).flag}=#{text}"
        end
      end

      # The path of the executable, as the user wrote it: its symbolic links may later lead to a new version.
      def script
        return EXECUTABLE unless File.basename(@program) == File.basename(EXECUTABLE)

        File.expand_path(@program, WorkingDirectory.new.path)
      end
    end
  end
end
