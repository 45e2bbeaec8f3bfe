# frozen_string_literal: true

module Bench
  # How a server is started and what its processes are called.
  #
  # command: argv with %{port} and %{app}; env: variables to set; roles: process names and patterns of their titles, the
  # workers' last; workers: how many of these; version: a callable that returns one line; obstacle: a callable that says
  # in one sentence why the server cannot run here.
  class ServerSpec < Struct.new(:name, :command, :env, :roles, :workers, :version, :obstacle, keyword_init: true)
    # Variables of the user's shell that would change what a server does.
    CLEARED = /\A(CARAT_|BUNDLE|RUBYOPT\z|RUBYLIB\z|RACK_ENV\z|RAILS_|PORT\z|WEB_CONCURRENCY\z)/

    def argv(port:, app:) = command.map { |word| format(word, port: port, app: app) }

    # All run the JIT of this process: Carat and Rails enable YJIT by themselves, other servers do not.
    def environment
      jit = ("--yjit" if defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled?)
      options = [jit, env&.fetch("RUBYOPT", nil)].compact
      ruby = options.empty? ? {} : { "RUBYOPT" => options.join(" ") }
      ENV.keys.grep(CLEARED).to_h { |key| [key, nil] }.merge(env || {}, ruby)
    end

    # The same server with other values.
    def with(**changes) = self.class.new(**to_h, **changes)

    def with_env(variables) = with(env: (env || {}).merge(variables))

    # "carat" for "carat", "carat-w2" ...
    def family = name.split("-").first

    def carat? = family == "carat"

    # The name of a process with this title; "other" for an unknown one.
    def role(title) = roles.find { |_, pattern| pattern.match?(title) }&.first || "other"

    # The role of the process that holds the clients' connections.
    def front_role = roles.keys.first

    def worker_role = roles.keys.last

    # Whether one process does everything.
    def alone? = front_role == worker_role
  end
end
