# frozen_string_literal: true

require "openssl"
require "pg"
require "socket"
require "uri"
require_relative "daemon"

module Support
  # A real PostgreSQL on a Unix socket. It starts in about a second and survives no crash.
  #
  #   server = Support::Postgres.shared
  #   PG.connect(server.url) { |connection| connection.exec("select 1") }
  #   server.connections # => 0
  class Postgres < Daemon
    BINARIES = "/usr/lib/postgresql/*/bin"
    CONNECTIONS_LIMIT = 400
    OWNER = "carat"
    # Data need not survive a crash, and nothing may depend on the size of /dev/shm.
    SETTINGS = {
      fsync: "off", synchronous_commit: "off", full_page_writes: "off", autovacuum: "off",
      wal_level: "minimal", max_wal_senders: 0, shared_buffers: "16MB", dynamic_shared_memory_type: "mmap",
      max_connections: CONNECTIONS_LIMIT
    }.freeze

    # @return [Integer] a part of the socket's name, and the port on 127.0.0.1 if it listens there
    attr_reader :port

    # @param tcp [Boolean] whether it also listens on 127.0.0.1, with TLS; every user of the machine can then connect
    def initialize(tcp: false)
      @tcp = tcp
      @port = tcp ? free_port : PG::DEF_PGPORT
      super()
    end

    # The URL over the Unix socket: for PG.connect, Sequel.connect, DATABASE_URL, and psql.
    def url(database = "postgres")
      "postgresql:///#{database}?host=#{directory}&port=#{port}&user=#{OWNER}"
    end

    # The URL over TCP.
    # @param host [String] a name or the address of this machine
    # @param options for libpq, such as sslmode
    def tcp_url(host = "127.0.0.1", **options)
      "postgresql://#{OWNER}@#{host}:#{port}/postgres?#{URI.encode_www_form(options)}"
    end

    # Runs SQL on a new connection and returns the rows as Hashes.
    def execute(sql, *values)
      connection = PG.connect(url)
      connection.exec_params(sql, values).to_a
    ensure
      connection&.finish
    end

    # The number of connections, without the one that this query uses.
    # @param like [String] a LIKE pattern for the current or last query
    # @param state [String] a LIKE pattern for the state: "active", "idle" ...
    def connections(like: "%", state: "%")
      execute(<<~SQL, like, state).first.fetch("count").to_i
        select count(*) from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid() and query like $1 and state like $2
      SQL
    end

    # Stops it without waiting for clients to disconnect.
    def stop(signal = :INT)
      super
    end

    private

    def prepare
      run(binary("initdb"), "--pgdata=data", "--username=#{OWNER}", "--auth=trust", "--encoding=UTF8", "--locale=C",
          "--no-sync")
      write_certificate if @tcp
    end

    def arguments
      settings = SETTINGS.merge(listen_addresses: @tcp ? "127.0.0.1" : "", port: port, ssl: @tcp ? "on" : "off",
                                unix_socket_directories: directory)
      [binary("postgres"), "-D", "data", *settings.flat_map { |name, value| ["-c", "#{name}=#{value}"] }]
    end

    # As pg_ctl does: the first line of the file is the pid, the eighth is the state.
    def ready?
      lines = File.readlines(File.join(directory, "data/postmaster.pid"), chomp: true)
      lines[0].to_i == pid && lines[7].to_s.strip == "ready"
    rescue Errno::ENOENT
      false
    end

    # Debian installs several versions side by side, none of them in PATH.
    def binary(name)
      Dir[File.join(BINARIES, name)].max_by { |path| path[/\d+/].to_i } or
        raise Failed, "PostgreSQL is missing; script/setup installs it (no #{BINARIES}/#{name})"
    end

    def free_port
      TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    end

    # For the name localhost, self-signed.
    def write_certificate
      key = OpenSSL::PKey::EC.generate("prime256v1")
      certificate = OpenSSL::X509::Certificate.new
      certificate.public_key = key
      certificate.subject = certificate.issuer = OpenSSL::X509::Name.parse("/CN=localhost")
      certificate.not_before = Time.now - 60
      certificate.not_after = Time.now + 86_400
      write("data/server.crt", certificate.sign(key, "SHA256").to_pem)
      write("data/server.key", key.to_pem)
    end
  end
end
