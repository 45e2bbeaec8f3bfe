# frozen_string_literal: true

require_relative "../config/option"

module Carat
  # The optional capabilities of the server.
  module Parts
    # An optional capability of the server. All of it stands in one folder of lib/carat/parts, and only the list,
    # lib/carat/parts.rb, names it. The server calls all parts in the order of that list, also those that are switched
    # off; `configuration` is a Config::Configuration. What a part remembers in the mold is there in the processes
    # that are forked from it.
    class Part
      KIB = 1024
      MIB = 1024 * KIB
      GIB = 1024 * MIB
      private_constant :KIB, :MIB, :GIB

      class << self
        # The key of the part's section in the settings of the edge and in its reports: :rate_limit for RateLimit.
        def key
          name[/(\w+)::Part\z/, 1].gsub(/(?<=[a-z])(?=[A-Z])/, "_").downcase.to_sym
        end

        # The Options of the part.
        def options
          @options ||= []
        end

        private

        # Declares an option; `fields` are the fields of Config::Option.
        def option(name, **fields)
          options << Config::Option.new(name:, part: key, **fields)
        end
      end

      # The path of the file of each subcommand, without its ending, by the name of the subcommand.
      def subcommands = {}

      # The checks of `carat doctor`: classes such as those of CLI::Doctor::CHECKS.
      def doctor_checks = []

      # Returns lines for `carat status`; `report` is the server's.
      def status(_report) = []

      # What `carat memory` calls the memory that the edge holds for the part, such as "the cache"; nil without any.
      def memory_name = nil

      # The class for further addresses to listen on, such as TLS::Parameters, or nil. SCHEME is the scheme of such an
      # address, FORM and NOUN are for messages, and an object has the parameters of one address.
      def addresses = nil

      # Lines that `carat init` writes for an application, a CLI::Init::Application, as the arguments of
      # CLI::Init::ConfigText#suggestion or #setting: `[:setting, :cable, '"/cable"']`.
      def init_lines(_application) = []

      # Comments that `carat import` adds, by the file of the application that calls for it.
      def import_hints = {}

      # What becomes of calls of Puma's configuration: by the name of the method, what returns the
      # CLI::Import::Translation of a CLI::Import::Call, or nil to leave the call to others.
      def puma_calls = {}

      # Options of earlier versions, and the sentence that says what to use instead.
      def gone_options = {}

      # The configuration of another server in this directory, which is not read, as its path and the command that
      # translates it; or nil.
      def foreign_configuration = nil

      # The end of a message about a flag that Carat does not have, or about a method of the config file at `path`; an
      # empty String when the part does not know the word.
      def word_hint(_word, _path = nil) = ""

      # The end of a message about values that an Option does not take; an empty String without a hint.
      def value_hint(_option, _values) = ""

      # Raises ConfigError when options contradict each other, this Ruby, or the directory of the application.
      def check(_configuration)
      end

      # What the edge reads in the part's section beside its options, a Hash by name.
      def edge_settings(_configuration) = {}

      # Whether the part makes all clients use HTTPS.
      def https?(_configuration) = false

      # The option that says how many requests a worker runs at once, in place of `threads`; nil to leave it so.
      def concurrency(_configuration) = nil

      # A class to use in place of Request::Lane, and further arguments for it; nil to leave it so.
      def lane(_configuration) = nil

      # The names that no `process` of the config file can have, and who has them.
      def process_names = {}

      # Called in the mold, whose Native::Control is `control`, before it loads the application.
      def before_load(_control, _configuration)
      end

      # Called in the mold with the Rack application that it has loaded; returns the one to call. Raises ConfigError.
      def install(app, _configuration) = app

      # Called in the mold once it has run its hooks.
      def loaded(_control, _configuration)
      end

      # Called in each process that is forked from the mold, with its Native::Control. Returns whether the part needs
      # the control where the process itself does not.
      def join(_control, _configuration) = false

      # Returns the class of the role to play in a process that the edge has ordered, an AppProcess::Order, or nil.
      def role(_order) = nil

      # The environment variables for a `command` of the config file, a Hash.
      def command_environment(_configuration) = {}
    end
  end

  private_constant :Parts
end
