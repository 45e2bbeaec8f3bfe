# frozen_string_literal: true

require "fileutils"
require "json"
require "openssl"
require "socket"
require "tmpdir"

module Support
  # A server that orders certificates from Pebble, and its clients.
  module AcmeServer
    include ControlledServer

    # An authority and validations take some seconds.
    WITHIN = 60

    def setup
      super
      @storage = Dir.mktmpdir("carat-acme-")
      @ports = { tls: Pebble.free_port, http: Pebble.free_port }
    end

    def teardown
      super
      @pebble&.destroy
      FileUtils.rm_rf(@storage)
    end

    private

    def pebble(config: {}, **env)
      @pebble ||= Pebble.new(@ports, config: config, env: env.transform_keys(&:to_s)).start
    end

    def binds(names, plain: true, tls: @ports[:tls], http: @ports[:http])
      ["tls://127.0.0.1:#{tls}?acme=#{names}", *("tcp://127.0.0.1:#{http}" if plain)]
    end

    def serve_names(names, plain: true, authority: pebble, more: [], **options)
      files = { "authority.pem" => authority.authority }
      serve(self.class::APP, binds: binds(names, plain: plain), files: files, args: [*flags, *more], **options)
    end

    def flags(url = pebble.url, storage: @storage)
      ca = ["--acme-ca", "authority.pem"] if @pebble
      ["--acme-directory", url, "--acme-storage", storage, *ca, *CONTROL_SOCKET]
    end

    def kept(path)
      File.join(Dir.glob("#{@storage}/localhost_*").first, path)
    end

    def mode(path)
      format("%o", File.stat(kept(path)).mode & 0o777)
    end

    def fake_status(name, **status)
      File.write(kept("#{name}/status.json"), JSON.generate({ expires: nil, **status }))
    end

    def ask_plain(server, token)
      client = server.connect(server.urls.last)
      client.get("/.well-known/acme-challenge/#{token}")
    ensure
      client&.close
    end

    def await_issued(server, count)
      eventually(within: WITHIN, message: "certificates") { server.log.scan("certificate issued").size >= count }
    end

    # The certificate that a client gets who asks for this name.
    def handshake(name, port: @ports[:tls])
      connect(name, port: port, &:peer_cert)
    end

    def assert_refused(name)
      error = assert_raises(OpenSSL::SSL::SSLError, name) { handshake(name) }
      assert_match(/access denied/, error.message)
    end

    def connect(name, port: @ports[:tls], **options)
      context = OpenSSL::SSL::SSLContext.new
      context.verify_mode = OpenSSL::SSL::VERIFY_NONE
      options.each { |option, value| context.public_send("#{option}=", value) }
      ssl = OpenSSL::SSL::SSLSocket.new(TCPSocket.new("127.0.0.1", port), context)
      ssl.sync_close = true
      ssl.hostname = name
      ssl.connect
      yield ssl
    ensure
      ssl&.close
    end

    def get(name, path)
      connect(name) do |ssl|
        ssl.write("GET #{path} HTTP/1.1\r\nHost: #{name}\r\nConnection: close\r\n\r\n")
        ssl.read[/\r\n\r\n(.*)/m, 1]
      end
    end

    def names(certificate)
      extension = certificate.extensions.find { |it| it.oid == "subjectAltName" }
      extension.value.split(", ").map { |name| name.delete_prefix("DNS:") }
    end
  end
end
