# frozen_string_literal: true

require_relative "command_line"
require_relative "../../lib/carat/config/options"
require_relative "../../lib/carat/version"

module Suite
  # The manual page of the command, in roff. `rake docs` writes it.
  class Manual
    FILES = {
      "carat.rb, config/carat.rb" => "The config file, if --config names no other.",
      "config.ru" => "The application, unless an argument names another rackup file."
    }.freeze
    SIGNALS = {
      "TERM, INT, QUIT" => "Stop after the running requests; a second one stops at once.",
      "USR1, USR2" => "Restart the application; upgrade the server.",
      "TTIN, TTOU" => "One worker more; one fewer.",
      "HUP" => "Reopen the log file; stop, when the terminal of the server has closed."
    }.freeze
    STATUSES = {
      "0" => "All is well.", "1" => "The command or the server failed.",
      "78" => "The configuration or the command line is wrong."
    }.freeze
    private_constant :FILES, :SIGNALS, :STATUSES

    def initialize(line = CommandLine.new)
      @line = line
    end

    # @return [String]
    def to_s
      [
        %(.\\" Generated from the option table by `rake docs`.), %(.TH CARAT 1 "" "Carat #{Carat::VERSION}"),
        section("NAME"), "carat \\- an application server for Ruby", *synopsis,
        section("SUBCOMMANDS"), *subcommands(@line.own), ".SS Of the gem carat-lab", *subcommands(@line.lab),
        *options, section("SIGNALS"), *table(SIGNALS), section("FILES"), *table(FILES),
        section("EXIT STATUS"), *table(STATUSES), ""
      ].join("\n")
    end

    private

    def synopsis
      [section("SYNOPSIS"), ".B carat", escape("[options] [config.ru]"), ".br", ".B carat",
       escape("SUBCOMMAND [options]"), section("DESCRIPTION"),
       escape("Serves a Rack application. A flag wins over the config file, and the file over the environment. " \
              "carat help SUBCOMMAND lists the flags of a subcommand.")]
    end

    def subcommands(list)
      table(list.to_h { |subcommand| ["carat #{subcommand.usage}", subcommand.summary] })
    end

    def options
      rows = Carat.const_get(:Config)::Options.from(:flag)
      [section("OPTIONS"), *rows.group_by(&:group).flat_map do |group, members|
        [".SS #{group}", *table(members.to_h { |option| [flags(option), meaning(option)] })]
      end]
    end

    def flags(option)
      long = option.boolean? ? "--[no-]#{option.flag[2..]}" : "#{option.flag} #{option.metavar}"
      [option.short, long].compact.join(", ")
    end

    def meaning(option)
      variables = " Environment: #{option.variables.join(", ")}." if option.variables.any?
      "#{option.doc} Default: #{option.default_words}.#{variables}"
    end

    def section(title)
      ".SH #{title}"
    end

    def table(rows)
      rows.flat_map { |term, text| [".TP", ".B #{escape(term)}", escape(text)] }
    end

    # A point or an apostrophe at the beginning of a line would be a request.
    def escape(text)
      text.gsub("\\", "\\e").gsub("-", "\\-").sub(/\A(?=[.'])/, "\\\\&")
    end
  end
end
