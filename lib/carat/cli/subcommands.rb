# frozen_string_literal: true

require_relative "../config/config_error"
require_relative "../config/sources/flags"
require_relative "../config/sources/spelling"
require_relative "../launch/lab_gem"
require_relative "../launch/launch_error"
require_relative "../parts"

module Carat
  module CLI
    # The subcommands by name. To add one, write a class that includes Subcommand in a file that has its name
    # (KillWorker in server/kill_worker.rb for `kill-worker`), and add the name to FILES. A Part declares its own
    # subcommands, and the gem carat-lab has more.
    module Subcommands
      # Returns the files of the subcommands `names` in `folder`, by name.
      def self.files(folder, names)
        names.to_h { |name| [name, File.join(__dir__, folder, name.tr("-", "_"))] }
      end
      private_class_method :files

      # The files of the server's subcommands by name, without their ending, in the order of the help.
      FILES = {
        **files("application", %w[serve check]),
        **files("server", %w[status stacks memory restart upgrade stop scale pause resume kill-worker kill-process]),
        **Parts.map(&:subcommands).reduce(:merge),
        **files(".", %w[help version])
      }.freeze

      # The names of the subcommands of this gem, without those of carat-lab.
      OWN = FILES.keys.freeze

      # Every subcommand.
      NAMES = [*OWN, *Launch::LabGem::SUBCOMMANDS].freeze

      # The subcommand that runs when the command line names none.
      DEFAULT = "serve"

      # The form of a subcommand's name. A path differs from it, because it has a dot or a slash.
      WORD = /\A[a-z][a-z_-]*\z/i
      private_constant :FILES, :WORD

      module_function

      # Loads and returns the class of the subcommand called `name`, one of NAMES. Raises ConfigError when its gem is
      # not installed, and LaunchError when the gem is not built.
      def fetch(name)
        FILES.key?(name) ? require(FILES.fetch(name)) : require_from_lab(name, name.tr("-", "_"))
        CLI.const_get(name.split("-").map(&:capitalize).join)
      end

      # Splits the words of a command line into the subcommand's name and the other words. Flags may come before the
      # name; a word after `--` is a file. Raises ConfigError for a word that is neither a subcommand nor a file.
      def split(argv)
        following = following_flags(argv) or return [DEFAULT, argv]
        leading = argv.first(argv.size - following.size)
        return [DEFAULT, argv] if following.empty? || leading.last == "--"
        return [following.first, leading + following.drop(1)] if NAMES.include?(following.first)

        refuse_mistyped(following.first)
        [DEFAULT, argv]
      end

      def require_from_lab(name, file)
        unless Launch::LabGem.load
          raise Config::ConfigError, "carat: #{name} is part of the gem carat-lab: add it to the development group: " \
                                     "#{Launch::LabGem::REMEDY}"
        end

        unbuilt = Launch::LabGem.unbuilt
        raise Launch::LaunchError, "carat: #{unbuilt}" if unbuilt

        require "carat/cli/#{file}"
      end

      # Raises ConfigError for a word that looks like a subcommand and is no file.
      def refuse_mistyped(word)
        return if !WORD.match?(word) || File.exist?(word)

        hint = Config::Spelling.hint(word, NAMES)
        hint = "; carat help lists the subcommands" if hint.empty?
        raise Config::ConfigError, "#{word}: no such subcommand or file#{hint}"
      end

      # Returns the words after the leading flags, or nil when a flag is wrong: then the subcommand reports the error.
      def following_flags(argv)
        Config::Flags.new.parse_leading(argv)
      rescue Config::ConfigError
        nil
      end
      private_class_method :require_from_lab, :refuse_mistyped, :following_flags
    end
  end
end
