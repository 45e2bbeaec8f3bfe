# frozen_string_literal: true

require_relative "launch_error"
require_relative "../config/options"

module Carat
  module Launch
    # What `rackup` and `rails server` ask of a handler, as words for the command `carat`.
    class RackupArguments
      # What `rackup` passes when its user names no address.
      DEFAULT_HOSTS = [nil, "localhost", "0.0.0.0"].freeze
      DEFAULT_PORTS = [nil, 9292].freeze
      PASSED = Config::Options.from(:file).reject { |option| %i[rackup environment bind].include?(option.name) }.freeze
      private_constant :DEFAULT_HOSTS, :DEFAULT_PORTS, :PASSED

      # Returns what `-O NAME=VALUE` understands, as rackup lists it: a Hash of text by `name=VALUE`.
      def self.valid_options
        address = { "Host=HOST" => "Host to listen on", "Port=PORT" => "Port to listen on" }
        address.merge(PASSED.to_h { |option| ["#{option.name}=#{option.metavar || "true|false"}", option.doc] })
      end

      # `options` is the Hash that rackup passes to a handler.
      def initialize(options)
        @options = options
      end

      # Returns the words for the command; raises LaunchError when the application does not come from a file.
      def argv
        [*bind, *flags, "--", rackup]
      end

      # Returns what the environment must say unless it already does: the address nobody chose, which a config file may
      # replace, and the environment, which rackup has already given to the application.
      def variables
        variables = { "RACK_ENV" => @options[:environment] }
        variables["CARAT_BIND"] = address if address && !chosen_address?
        variables.compact
      end

      # Returns the environment that brings rackup's `-I` and `-r` to the mold, given the one that is there.
      def ruby_variables(env)
        paths = [*@options[:include]].map { |path| File.expand_path(path) }
        files = [*@options[:require]].map { |file| "-r#{file}" }
        {
          "RUBYLIB" => [*paths, *env["RUBYLIB"]].join(File::PATH_SEPARATOR),
          "RUBYOPT" => [*env["RUBYOPT"], *files].join(" ")
        }.reject { |_name, value| value.empty? }
      end

      private

      def rackup
        path = @options[:config]
        return path if path && !@options[:app] && !@options[:builder]

        raise LaunchError, "carat: needs the application in a rackup file: run carat path/to/config.ru"
      end

      def bind
        address && chosen_address? ? ["--bind=#{address}"] : []
      end

      def flags
        PASSED.filter_map do |option|
          key = [option.name, option.name.to_s.capitalize.to_sym].find { |name| @options.key?(name) }
          "#{option.flag}=#{@options[key]}" if key
        end
      end

      # Rails says which options its user gave; rackup does not, so what differs from its defaults was given.
      def chosen_address?
        given = @options[:user_supplied_options]
        return given.intersect?(%i[Host Port]) if given

        !DEFAULT_HOSTS.include?(@options[:Host]) || !DEFAULT_PORTS.include?(@options[:Port])
      end

      def address
        return unless @options[:Host] || @options[:Port]

        host = @options[:Host] || "0.0.0.0"
        host.include?("://") ? host : "tcp://#{bracketed(host)}:#{@options[:Port] || DEFAULT_PORTS.last}"
      end

      # An IPv6 address stands in brackets before a port (RFC 3986, 3.2.2).
      def bracketed(host)
        host.include?(":") && !host.start_with?("[") ? "[#{host}]" : host
      end
    end
  end
end
