# frozen_string_literal: true

require "json"
require "open3"
require "resolv"
require "socket"
require_relative "daemon"
require_relative "test_certificate"

module Support
  # Pebble, an authority that speaks ACME, and the DNS that it asks, in which every name is this machine.
  class Pebble < Daemon
    BUILD = File.expand_path("../../script/pebble/build", __dir__)

    # Returns why it cannot run, or nil.
    def self.obstacle
      return "Pebble is compiled by Go, which is not installed" unless system("command -v go > /dev/null")

      output, status = Open3.capture2e("timeout", "300", BUILD)
      "Pebble cannot be compiled: #{output.lines.last}" unless status.success?
    end

    # Returns a port that is free now.
    def self.free_port
      TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    end

    # @param ports [Hash] `tls` and `http`: where it validates names
    # @param config [Hash] further settings
    # @param env [Hash] its own variables
    def initialize(ports, config: {}, env: {})
      @ports = ports
      @config = config
      @env = env
      @port = Pebble.free_port
      @certificate = TestCertificate.new("localhost", "127.0.0.1")
      super()
    end

    # The address of its directory.
    def url
      "https://localhost:#{@port}/dir"
    end

    # The certificate that its own server has, in PEM.
    def authority
      @certificate.certificate.to_pem
    end

    private

    def prepare
      @certificate.files.each { |name, content| write(name, content) }
      pebble = { listenAddress: "127.0.0.1:#{@port}", managementListenAddress: "", certificate: "server.crt",
                 privateKey: "server.key", httpPort: @ports.fetch(:http), tlsPort: @ports.fetch(:tls),
                 keyAlgorithm: "ecdsa", domainBlocklist: ["blocked.example"], retryAfter: { authz: 1, order: 1 },
                 profiles: { default: { description: "", validityPeriod: 7_776_000 } }, **@config }
      write("config.json", JSON.generate(pebble: pebble))
    end

    def arguments
      FileUtils.cp(Open3.capture2(BUILD).first.chomp, @directory)
      variables = { "PEBBLE_VA_NOSLEEP" => "1", "PEBBLE_AUTHZREUSE" => "0", **@env }
      variables = variables.map { |name, value| "#{name}=#{value}" }
      ["env", *variables, "./pebble", "-config", "config.json", "-dnsserver", "127.0.0.1:#{names}"]
    end

    def ready?
      TCPSocket.new("127.0.0.1", @port).close
      true
    rescue Errno::ECONNREFUSED
      false
    end

    # Starts the DNS, which Pebble asks over TCP, and returns its port.
    def names
      server = TCPServer.new("127.0.0.1", 0)
      Thread.new { loop { Thread.new(server.accept) { |socket| answer(socket) } } }
      server.addr[1]
    end

    def answer(socket)
      while (length = socket.read(2)&.unpack1("n"))
        message = Resolv::DNS::Message.decode(socket.read(length))
        message.qr = 1
        message.question.each do |name, type|
          message.add_answer(name, 0, type.new("127.0.0.1")) if type == Resolv::DNS::Resource::IN::A
        end
        text = message.encode
        socket.write([text.bytesize].pack("n"), text)
      end
    ensure
      socket.close
    end
  end
end
