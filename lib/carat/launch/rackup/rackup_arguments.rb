# frozen_string_literal: true

require_relative "../launch_error"
require_relative "../../warmup/console_log"
require_relative "rackup_options"

module Carat
  module Launch
    # Translates the options of `rackup` and `rails server` into a command line of `carat`.
    class RackupArguments
      # The hosts that `rackup` passes when the user names none.
      DEFAULT_HOSTS = [nil, "localhost", "0.0.0.0"].freeze
      # The ports that `rackup` passes when the user names none.
      DEFAULT_PORTS = [nil, 9292].freeze
      # The host that Rails passes outside development when the user names none.
      EVERY_IPV4 = "0.0.0.0"
      # The host by which `carat` means every address.
      EVERYWHERE = "*"
      private_constant :DEFAULT_HOSTS, :DEFAULT_PORTS, :EVERY_IPV4, :EVERYWHERE

      # `options` is the Hash that rackup passes to a handler.
      def initialize(options)
        @options = options
      end

      # Returns the words of the command line. Raises LaunchError when the application does not come from a file.
      def argv
        [*bind, *flags, "--", rackup]
      end

      # Returns environment variables to set where they are unset: the address that `rackup` uses by default, which a
      # config file may replace; the environment, which `rackup` has passed to the application already; and the variable
      # that makes `rails server` log to the terminal.
      def variables
        variables = { "RACK_ENV" => @options[:environment] }
        variables[Warmup::ConsoleLog::VARIABLE] = "1" if @options[:log_stdout]
        variables["CARAT_BIND"] = address if address && !chosen_address?
        variables.compact
      end

      # Returns the environment variables that make the mold apply the `-I` and `-r` of `rackup`. `env` is the current
      # environment.
      def ruby_variables(env)
        paths = [*@options[:include]].map { |path| File.expand_path(path) }
        files = [*@options[:require]].map { |file| "-r#{file}" }
        {
          "RUBYLIB" => [*paths, *env["RUBYLIB"]].join(File::PATH_SEPARATOR),
          "RUBYOPT" => [*env["RUBYOPT"], *files].join(" ")
        }.reject { |_name, value| value.empty? }
      end

      # Returns the absolute path of the pid file that rackup has written, or nil.
      def pid_file
        File.expand_path(@options[:pid]) if @options[:pid]
      end

      # Returns the directory of the application if `rackup` has left it, as a daemon does; otherwise nil.
      def directory
        return unless @options[:daemonize]

        defined?(::Rails.root) && ::Rails.root ? ::Rails.root.to_s : File.dirname(File.expand_path(rackup))
      end

      private

      def rackup
        path = @options[:config]
        return path if path && !@options[:app] && !@options[:builder]

        raise LaunchError, "carat: needs the application in a rackup file, which its own processes load: run carat " \
                           "path/to/config.ru; tests in a browser (Capybara) need a server in their process, such as " \
                           "Puma"
      end

      def bind
        address && chosen_address? ? ["--bind=#{address}"] : []
      end

      def flags
        RackupOptions::PASSED.filter_map do |option|
          key = RackupOptions.key(option, @options)
          "#{option.flag}=#{@options[key]}" if key
        end
      end

      # Whether the user chose the address. Rails reports the options that the user chose. `rackup` does not, so an
      # address counts as chosen when it differs from the default.
      def chosen_address?
        given = @options[:user_supplied_options]
        return given.intersect?(%i[Host Port]) if given

        !DEFAULT_HOSTS.include?(@options[:Host]) || !DEFAULT_PORTS.include?(@options[:Port])
      end

      def address
        return unless @options[:Host] || @options[:Port]

        host.include?("://") ? host : "tcp://#{bracketed(host)}:#{@options[:Port] || DEFAULT_PORTS.last}"
      end

      # The host to listen on. The default of Rails, every IPv4 address, becomes every address, as IPv6 counts, too.
      def host
        given = @options[:user_supplied_options]
        host = @options[:Host] || EVERYWHERE
        given && host == EVERY_IPV4 && !given.include?(:Host) ? EVERYWHERE : host
      end

      # An IPv6 address needs brackets before a port (RFC 3986, section 3.2.2).
      def bracketed(host)
        host.include?(":") && !host.start_with?("[") ? "[#{host}]" : host
      end
    end
  end
end
