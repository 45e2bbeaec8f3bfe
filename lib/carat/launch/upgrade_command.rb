# frozen_string_literal: true

require_relative "../config/options"
require_relative "surroundings/ruby_program"
require_relative "surroundings/working_directory"

module Carat
  module Launch
    # The command that starts a server like this one: with the Ruby and the Carat that are there when it runs.
    class UpgradeCommand
      # RubyGems finds the newest version, and Bundler the one of the Gemfile.
      GEM = 'load Gem.activate_bin_path("carat", "carat", ">= 0")'
      # The executable of this library.
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

      # A path with symbolic links may lead to a new version.
      def script
        return EXECUTABLE unless File.basename(@program) == File.basename(EXECUTABLE)

        File.expand_path(@program, WorkingDirectory.new.path)
      end
    end
  end
end
