# frozen_string_literal: true

require "stringio"
require_relative "../../lib/carat"
require_relative "../../lib/carat/cli/subcommands"

module Suite
  # What the command understands, for its manual and for completions: subcommands and their flags, as OptionParser has
  # them from the option table.
  class CommandLine
    Subcommand = Struct.new(:name, :usage, :summary, :flags)
    # `short` and `long` are Arrays of words such as --no-reload; `value` is a placeholder or nil; `words` are the
    # values that there are, if they are few; `doc` is a line.
    Flag = Struct.new(:short, :long, :value, :words, :doc) do
      def names
        short + long
      end
    end

    # @return [Array<Subcommand>]
    def subcommands
      @subcommands ||= all::NAMES.map do |name|
        command = all.fetch(name)
        switches = command.new([], env: {}, out: StringIO.new).switches
        Subcommand.new(name, command::USAGE, command::SUMMARY, switches.map { |switch| flag(switch) })
      end
    end

    # @return [Array<Subcommand>] those of the server
    def own
      subcommands.select { |subcommand| all::OWN.include?(subcommand.name) }
    end

    # @return [Array<Subcommand>] those of the gem carat-lab
    def lab
      subcommands - own
    end

    # @return [Subcommand] the one that runs when none is named
    def default
      subcommands.find { |subcommand| subcommand.name == all::DEFAULT }
    end

    private

    def all
      Carat.const_get(:CLI)::Subcommands
    end

    def flag(switch)
      long = switch.long.flat_map { |name| name.start_with?("--[no-]") ? spread(name) : [name] }
      option = Carat.const_get(:Config)::Options.find { |row| row.flag == long.first }
      words = option&.type == :choice ? option.within : []
      value = switch.arg.to_s.strip if switch.arg.to_s.start_with?(" ")
      Flag.new(switch.short, long, value, words, switch.desc.join(" "))
    end

    def spread(name)
      plain = name.sub("[no-]", "")
      [plain, plain.sub("--", "--no-")]
    end
  end
end
