# frozen_string_literal: true

require_relative "../config/config_error"
require_relative "../config/type/network/address_parameters"
require_relative "../config/sources/spelling"
require_relative "../launch/lab_gem"
require_relative "subcommand"
require_relative "subcommands"

module Carat
  module CLI
    # `carat help`.
    class Help
      include Subcommand

      # The words after `Usage: carat` in the help.
      USAGE = "help [subcommand]"

      # The sentence in the list of subcommands.
      SUMMARY = "Shows this text, or the help of a subcommand."
      FURTHER_ADDRESSES = Config::Type::AddressParameters.kinds.map { |kind| "#{kind::FORM}, " }.join
      FOOT = <<~TEXT
        carat.rb (or config/carat.rb) may set the same options, such as `workers 2`, and
        so may the environment, such as CARAT_WORKERS=2. A flag wins over the file, the
        file over the environment. Sizes are bytes or "64KB", "1GB" (powers of 1024);
        times are seconds or "500ms", "5m". ADDRESS is tcp://HOST:PORT,
        #{FURTHER_ADDRESSES}unix:///PATH?mode=0660 or fd://NUMBER.
      TEXT
      private_constant :FOOT, :FURTHER_ADDRESSES

      class << self
        # Returns the text of `carat --help`; `flags` are the Flags of all options.
        def overview(flags)
          <<~TEXT
            Usage: carat [options] [config.ru]
                   carat SUBCOMMAND [options]

            Subcommands (carat help SUBCOMMAND says more):
            #{subcommands(Subcommands::OWN)}

            Measurements, of the gem carat-lab:
            #{lab}

            #{flags}

            #{FOOT}
          TEXT
            .chomp
        end

        private

        def subcommands(names)
          width = Subcommands::NAMES.map(&:length).max
          names.map { |name| "  #{name.ljust(width)}  #{Subcommands.fetch(name)::SUMMARY}" }.join("\n")
        end

        def lab
          names = Launch::LabGem::SUBCOMMANDS
          remedy = Launch::LabGem.load ? Launch::LabGem.unbuilt : "Get it with #{Launch::LabGem::REMEDY}."
          remedy ? "  #{names.join(" ")}\n  #{remedy}" : subcommands(names)
        end
      end

      # Prints the help of the subcommand that is the argument. Raises ConfigError when there is no such subcommand.
      def run
        name = single_argument("subcommand") || Subcommands::DEFAULT
        say(subcommand(name).new([], env: @env, out: @out).help)
      end

      private

      def subcommand(name)
        return Subcommands.fetch(name) if Subcommands::NAMES.include?(name)

        raise Config::ConfigError, "#{name}: no such subcommand#{Config::Spelling.hint(name, Subcommands::NAMES)}"
      end
    end
  end
end
