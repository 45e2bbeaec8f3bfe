# frozen_string_literal: true

module Bench
  # One line of the server table: how a server is started and what its processes are called.
  #
  # command: argv with %{port} and %{app}; env: variables to set; roles: process names and the titles
  # they go by, the workers' last; workers: how many of these; version: a callable that gives one
  # line; obstacle: a callable that gives one sentence why the server cannot run here, or nil.
  Peer = Struct.new(:name, :command, :env, :roles, :workers, :version, :obstacle, keyword_init: true) do
    # Variables of the user's shell that would change what a server does.
    CLEARED = /\A(CARAT_|BUNDLE|RUBYOPT\z|RUBYLIB\z|RACK_ENV\z|RAILS_|PORT\z|WEB_CONCURRENCY\z)/

    # The argv for this port and rackup file.
    def argv(port:, app:)
      command.map { |word| format(word, port: port, app: app) }
    end

    def environment
      ENV.keys.grep(CLEARED).to_h { |key| [key, nil] }.merge(env || {})
    end

    # The same server with further variables.
    def with(variables)
      dup.tap { |peer| peer.env = (env || {}).merge(variables) }
    end

    # "carat" is the family of "carat", "carat-w2" ...
    def family
      name.split("-").first
    end

    # The name for a process of this title; "other" for one that the table does not know.
    def role(title)
      roles.find { |_, pattern| pattern.match?(title) }&.first || "other"
    end

    # How a figure stands in a table: bounds are asked of Carat, its peers are there for comparison.
    def judged(bound, figure, text = figure)
      family == "carat" ? bound.cell(figure, text) : text
    end

    # Whose process holds the clients' connections.
    def front_role
      roles.keys.first
    end

    # Whether one process does everything.
    def alone?
      front_role == worker_role
    end

    def worker_role
      roles.keys.last
    end
  end
end
