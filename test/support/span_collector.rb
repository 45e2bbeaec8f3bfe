# frozen_string_literal: true

require "socket"
require_relative "protobuf"

module Support
  # A collector of OpenTelemetry: reads messages of OTLP over HTTP, takes them, and keeps their spans.
  class SpanCollector
    include Protobuf

    # One span: ids in hexadecimal digits, times in nanoseconds, attributes of the resource and its own.
    Span = Struct.new(:trace, :id, :parent, :name, :from, :to, :attributes, :state)

    # @return [Integer]
    attr_reader :port

    # @param responds [Boolean] whether it answers what it has read
    def initialize(responds: true)
      @responds = responds
      @server = TCPServer.new("127.0.0.1", 0)
      @port = @server.addr[1]
      @spans = Queue.new
      @thread = Thread.new { loop { serve(@server.accept) } }
      @thread.report_on_exception = false
    end

    # @return [Array<Span>] those that have arrived
    def spans
      @all = (@all || []) + Array.new(@spans.size) { @spans.pop }
    end

    def close
      @thread.kill
      @server.close
    end

    private

    def serve(socket)
      while (head = socket.gets("\r\n\r\n"))
        message = socket.read(head[/^content-length: (\d+)/i, 1].to_i)
        return @open = socket unless @responds

        read(message)
        socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n")
      end
    end

    # The numbers are those of the fields in opentelemetry/proto.
    def read(message)
      fields(message)[1].each do |resource_spans|
        resource_spans = fields(resource_spans)
        resource = attributes(fields(resource_spans[1].first)[1])
        fields(resource_spans[2].first)[2].each { |span| @spans << span(fields(span), resource) }
      end
    end

    def span(fields, resource)
      trace, id, parent = [1, 2, 4].map { |number| fields[number].first&.unpack1("H*") }
      name, from, to, state = [5, 7, 8, 3].map { |number| fields[number].first }
      Span.new(trace, id, parent, name, from, to, resource.merge(attributes(fields[9])), state)
    end

    def attributes(pairs)
      pairs.to_h do |pair|
        pair = fields(pair)
        [pair[1].first, fields(pair[2].first).values.first.first]
      end
    end
  end
end
