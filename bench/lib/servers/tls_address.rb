# frozen_string_literal: true

require "socket"
require "tmpdir"
require_relative "../../../test/support/test_certificate"

module Bench
  # A server that also listens on an address with TLS, with a certificate of its own.
  module TlsAddress
    # How the servers of a family name such an address.
    SCHEMES = { "carat" => "tls", "puma" => "ssl" }.freeze

    # Runs the server with one more address, and yields it and the port of that address.
    def self.run(spec, app)
      Dir.mktmpdir("carat-bench-") do |directory|
        port = TCPServer.open("127.0.0.1", 0) { |listener| listener.addr[1] }
        Server.run(with_address(spec, port, directory), app) { |server| yield server, port }
      end
    end

    def self.with_address(spec, port, directory)
      cert, key = certificate(directory)
      *command, app = spec.command
      scheme = SCHEMES[spec.family]
      return spec.with(command: [*spec.command, "127.0.0.1:#{port}", cert, key]) unless scheme

      spec.with(command: [*command, "-b", "#{scheme}://127.0.0.1:#{port}?cert=#{cert}&key=#{key}", app])
    end

    # The paths of a certificate with an ECDSA key on P-256, and of that key.
    def self.certificate(directory)
      Support::TestCertificate.new("localhost").files.map do |name, text|
        File.join(directory, name).tap { |path| File.write(path, text) }
      end
    end

    private_class_method :with_address, :certificate
  end
end
