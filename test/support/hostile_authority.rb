# frozen_string_literal: true

require "openssl"
require "socket"
require "tempfile"
require_relative "test_certificate"

module Support
  # A server that speaks TLS, reads a request, and answers as it likes.
  class HostileAuthority
    # @param response [String] what it sends
    # @yield [OpenSSL::SSL::SSLSocket] what it does then
    def initialize(response, &behavior)
      @response = response
      @behavior = behavior
      @server = TCPServer.new("127.0.0.1", 0)
      @issuer = TestCertificate.new
      @thread = Thread.new { serve }
      @thread.report_on_exception = false
    end

    # Where it can be asked.
    def url
      "https://localhost:#{@server.addr[1]}/dir"
    end

    # The certificate that signs its own.
    def certificate_path
      @file ||= Tempfile.new("authority").tap { |file| file.write(@issuer.certificate.to_pem) && file.flush }
      @file.path
    end

    # Ends it.
    def close
      @server.close
      @thread.kill
      @file&.close!
    end

    private

    def serve
      loop do
        ssl = OpenSSL::SSL::SSLSocket.new(@server.accept, context)
        ssl.sync_close = true
        answer(ssl)
      rescue OpenSSL::SSL::SSLError, Errno::EPIPE, Errno::ECONNRESET
        next
      end
    end

    def answer(ssl)
      ssl.accept
      while (line = ssl.gets)
        break if line == "\r\n"
      end
      ssl.write(@response)
      @behavior&.call(ssl)
      ssl.close
    end

    def context
      certificate = TestCertificate.new("localhost", issuer: @issuer)
      OpenSSL::SSL::SSLContext.new.tap do |context|
        context.cert = certificate.certificate
        context.key = certificate.key
      end
    end
  end
end
