# frozen_string_literal: true

require_relative "../config/option"

module Carat
  # The optional capabilities of the server.
  module Parts
    # An optional capability of the server. Its code is in one folder of lib/carat/parts, and only the list in
    # lib/carat/parts.rb names it. The server calls all parts in the order of that list, also those that are switched
    # off. `configuration` is a Config::Configuration. State that a part keeps in the mold is also in the processes that
    # are forked from the mold.
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

      # The files of the part's subcommands: paths without their ending, by the name of the subcommand.
      def subcommands = {}

      # The checks that `carat doctor` makes for the part: classes such as those in CLI::Doctor::CHECKS.
      def doctor_checks = []

      # Returns the part's lines for `carat status`; `report` is the server's report.
      def status(_report) = []

      # The name in `carat memory` of the memory that the edge holds for the part, such as "the cache"; nil if there is
      # none.
      def memory_name = nil

      # The class for addresses of the part's own kind, such as TLS::Parameters, or nil. SCHEME is the scheme of such an
      # address; FORM and NOUN are words for messages. An object of the class has the parameters of one address.
      def addresses = nil

      # The lines that `carat init` writes for an application, a CLI::Init::Application. A line is the name and the
      # arguments of a method of CLI::Init::ConfigText, `suggestion` or `setting`: `[:setting, :cable, '"/cable"']`.
      def init_lines(_application) = []

      # The comments that `carat import` adds if the application has a certain file, by the path of the file.
      def import_hints = {}

      # The translations of calls in Puma's configuration, by the name of the method: something to call with a
      # CLI::Import::Call that returns its CLI::Import::Translation, or nil to leave the call to other parts and the
      # core.
      def puma_calls = {}

      # The names of options of earlier versions, each with a sentence that says what to use instead.
      def gone_options = {}

      # The config file of another server in this directory, which Carat does not read: its path, and the command that
      # translates it; or nil.
      def foreign_configuration = nil

      # The end of a message about an unknown flag, or about an unknown method in the config file at `path`. An empty
      # String when the part does not know the word.
      def word_hint(_word, _path = nil) = ""

      # The end of a message about values that an Option rejects; an empty String when the part has no hint.
      def value_hint(_option, _values) = ""

      # Raises ConfigError when the part's options contradict other options, this Ruby, or the directory of the
      # application.
      def check(_configuration)
      end

      # The values in the part's section for the edge that are no options, a Hash by name.
      def edge_settings(_configuration) = {}

      # Whether clients use HTTPS because of the part, so that warm-up requests come over HTTPS.
      def https?(_configuration) = false

      # The option that says how many requests a worker runs at once, if the part replaces `threads`; otherwise nil.
      def concurrency(_configuration) = nil

      # A class that replaces Request::Lane, and further arguments for it; nil if the part has none.
      def lane(_configuration) = nil

      # The names that no `process` of the config file may have, each with the command that uses it.
      def process_names = {}

      # Called in the mold before it loads the application; `control` is the mold's Native::Control.
      def before_load(_control, _configuration)
      end

      # Called in the mold with the Rack application that it has loaded. Returns the application that workers call.
      # Raises ConfigError.
      def install(app, _configuration) = app

      # Called in the mold once it has run its hooks.
      def loaded(_control, _configuration)
      end

      # Called in each process that is forked from the mold, with its Native::Control. Returns whether the part still
      # uses the control when this call has returned: the process must not close it then.
      def join(_control, _configuration) = false

      # Returns the class of the role for a process that the edge has ordered, an AppProcess::Order, or nil for a role
      # of the core.
      def role(_order) = nil

      # The environment variables for a `command` of the config file, a Hash.
      def command_environment(_configuration) = {}
    end
  end

  private_constant :Parts
end
