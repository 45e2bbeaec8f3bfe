# frozen_string_literal: true

require "openssl"
require "socket"
require "zlib"
require_relative "peer"

module Bench
  module Agents
    # Takes what agents send, over HTTP and TLS on one port of the loopback, answers as far as they need it, and counts
    # the marks of the requests, such as `mark-17-`, for each kind of data.
    class Collector
      # What agents want to read: New Relic's by the method that it calls, others by the path.
      ANSWERS = {
        "/info" => '{"version":"7.70.0","endpoints":["/v0.4/traces","/telemetry/proxy/"]}',
        "preconnect" => '{"return_value":{"redirect_host":"localhost"}}',
        "connect" => '{"return_value":{"agent_run_id":"1","collect_errors":true,"collect_error_events":true,' \
                     '"collect_analytics_events":true,"collect_custom_events":true,"collect_span_events":true,' \
                     '"collect_traces":true,"data_report_period":60,"product_level":40}}',
        "get_agent_commands" => '{"return_value":[]}'
      }.freeze
      # What Elastic's agent and Datadog's take for a configuration that has nothing for them.
      ABSENT = %r{\A/(?:config/v1/agents|v0\.7/config)}
      STATUSES = { "/intake/" => "202 Accepted", "/v1/notices" => "201 Created" }.freeze
      # How long to leave the processes alone.
      LOOK_SECONDS = 0.2
      private_constant :ANSWERS, :ABSENT, :STATUSES, :LOOK_SECONDS

      attr_reader :port, :certificate_path

      # `directory` receives the certificate that agents must trust.
      def initialize(directory)
        @listener = TCPServer.new("127.0.0.1", 0)
        @port = @listener.addr[1]
        @certificate_path = File.join(directory, "collector.pem")
        @tls = tls_context
        @seen = Hash.new { |marks, kind| marks[kind] = Hash.new(0) }
        @senders = Hash.new(0)
        @turn = Mutex.new
        Thread.new { loop { Thread.new(@listener.accept) { |socket| serve(socket) } } }
      end

      # How often each mark came, by kind of data.
      def seen
        @turn.synchronize { @seen.transform_values(&:dup) }
      end

      # How many requests the processes of each role have sent, by kind of data.
      def senders
        @turn.synchronize { @senders.dup }
      end

      private

      def tls_context
        key = OpenSSL::PKey::EC.generate("prime256v1")
        certificate = OpenSSL::X509::Certificate.new
        certificate.subject = certificate.issuer = OpenSSL::X509::Name.parse("/CN=localhost")
        certificate.serial, certificate.version, certificate.public_key = 1, 2, key
        certificate.not_before, certificate.not_after = Time.now - 60, Time.now + 86_400
        factory = OpenSSL::X509::ExtensionFactory.new(certificate, certificate)
        certificate.add_extension(factory.create_extension("subjectAltName", "DNS:localhost"))
        File.write(@certificate_path, certificate.sign(key, "SHA256").to_pem)
        OpenSSL::SSL::SSLContext.new.tap { |context| context.add_certificate(certificate, key) }
      end

      def serve(plain)
        role = role(plain)
        socket = encrypted?(plain) ? OpenSSL::SSL::SSLSocket.new(plain, @tls).tap(&:accept) : plain
        while (line = socket.gets)
          respond(socket, line, role) unless line.strip.empty?
        end
      rescue SystemCallError, IOError, OpenSSL::SSL::SSLError
        nil # The agent's process has ended.
      ensure
        socket&.close
      end

      # Looking for the process takes longer than answering: a few are enough.
      def role(socket)
        @turn.synchronize do
          now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
          return "not looked for" if @looked && now < @looked + LOOK_SECONDS

          @looked = now
        end
        Peer.role(socket)
      end

      # A record of TLS begins with 22, the type of a handshake.
      def encrypted?(socket)
        socket.recv(1, Socket::MSG_PEEK) == "\x16".b
      end

      def respond(socket, line, role)
        kind = line[/[?&]method=(\w+)/, 1] || line[%r{ (/[^? ]*)}, 1].to_s
        head = head(socket)
        socket.write("HTTP/1.1 100 Continue\r\n\r\n") if head.match?(/^expect: *100-continue/i)
        body = body(socket, head)
        count(kind, role, unzipped(body))
        body = ANSWERS[kind] || (line.include?("invoke_raw_method") ? '{"return_value":null}' : "{}")
        socket.write("HTTP/1.1 #{status(kind)}\r\nContent-Type: application/json\r\n" \
                     "Content-Length: #{body.bytesize}\r\n\r\n#{body}")
      end

      def status(kind)
        return "404 Not Found" if ABSENT.match?(kind)

        STATUSES.find { |path, _| kind.start_with?(path) }&.last || "200 OK"
      end

      def head(socket)
        lines = []
        while (field = socket.gets) && field != "\r\n"
          lines << field
        end
        lines.join
      end

      # What has arrived, also when the process ended in the middle of it.
      def body(socket, head)
        return socket.read($1.to_i).to_s if head =~ /^content-length: *(\d+)/i
        return "" unless head.match?(/^transfer-encoding: *chunked/i)

        bytes = +"".b
        while (size = socket.gets&.hex)&.positive?
          bytes << socket.read(size).to_s
          socket.gets
        end
        socket.gets
        bytes
      end

      def unzipped(bytes)
        return bytes unless bytes.start_with?("\x1F\x8B".b, "x".b)

        Zlib::Inflate.new(Zlib::MAX_WBITS + 32).inflate(bytes)
      rescue Zlib::Error
        bytes
      end

      def count(kind, role, bytes)
        found = bytes.b.scan(/mark-(\d+)-/).flatten.uniq
        @turn.synchronize do
          @senders[[role, kind]] += 1
          found.each { |mark| @seen[kind][mark.to_i] += 1 }
        end
      end
    end
  end
end
