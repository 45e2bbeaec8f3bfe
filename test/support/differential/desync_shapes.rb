# frozen_string_literal: true

require_relative "case"
require_relative "odd_chunks"
require_relative "odd_framings"
require_relative "odd_heads"

module Support
  module Differential
    # The shapes of request that have made two servers disagree, by the names that they are known by.
    class DesyncShapes
      # @return [Array<Case>] numbered from 0
      def self.cases
        new.cases
      end

      def initialize
        @cases = []
      end

      def cases
        codings
        lengths
        chunks
        heads
        connections
        expectations
        @cases
      end

      private

      # Yields the target of the first request, and a request that may hide in its body.
      def add(name)
        path = Case.path(@cases.size)
        hidden = "GET #{path}/hidden HTTP/1.1\r\nHost: a\r\n\r\n"
        @cases << Case.new(@cases.size, name, yield("#{path}/first", hidden).b)
      end

      def get(target, lines)
        "GET #{target} HTTP/1.1\r\nHost: a\r\n#{lines}\r\n"
      end

      def post(target, fields, body)
        "POST #{target} HTTP/1.1\r\nHost: a\r\n#{fields}\r\n\r\n#{body}"
      end

      def chunk(data)
        "#{data.size.to_s(16)}\r\n#{data}\r\n"
      end

      def codings
        OddFramings::CODINGS.each do |name, line|
          add("CL.TE, #{name}") do |to, hidden|
            post(to, "Content-Length: #{hidden.size + 5}\r\n#{line}", "0\r\n\r\n#{hidden}")
          end
          add("TE.CL, #{name}") { |to, hidden| post(to, "#{line}\r\nContent-Length: 4", "#{chunk(hidden)}0\r\n\r\n") }
          add("TE.0, #{name}") { |to, hidden| post(to, line, "#{chunk(hidden)}0\r\n\r\n") }
        end
      end

      def lengths
        OddFramings::LENGTHS.each do |length|
          add("length #{length.dump}") { |to, hidden| post(to, "Content-Length: #{length}", "hello#{hidden}") }
        end
        %w[GET HEAD DELETE OPTIONS TRACE PATCH].each do |verb|
          add("CL.0, #{verb}") do |to, hidden|
            post(to, "Content-Length: #{hidden.size}", hidden).sub("POST", verb)
          end
        end
        { "folded" => "Content-Length:\r\n %d", "with an underscore" => "Content_Length: %d",
          "with a space" => "Content-Length : %d" }.each do |name, field|
          add("0.CL, #{name}") { |to, hidden| post(to, format(field, hidden.size), hidden) }
        end
      end

      def chunks
        OddChunks::ALL.each do |name, format|
          add("chunk, #{name}") do |to, hidden|
            post(to, "Transfer-Encoding: chunked", format(format, hidden: hidden, inner: hidden.size + 5))
          end
        end
      end

      def heads
        OddHeads::REQUEST_LINES.each { |name, line| add(name) { |to, hidden| format(line, to: to) + hidden } }
        OddHeads::FIELDS.each { |line| add("field #{line.dump}") { |to, hidden| get(to, "#{line}\r\n") + hidden } }
        OddHeads::HOSTS.each do |lines|
          add("hosts #{lines.dump}") { |to, hidden| get(to, "").sub("Host: a\r\n") { lines } + hidden }
        end
      end

      def connections
        add("pipelined") { |to, hidden| get(to, "") + (hidden * 3) }
        add("behind close") { |to, hidden| get(to, "Connection: close\r\n") + hidden }
        add("behind close in a list") { |to, hidden| get(to, "Connection: x, close\r\n") + hidden }
        add("a length, then chunks") do |to, hidden|
          post(to, "Content-Length: 5", "hello") +
            post("#{to}2", "Transfer-Encoding: chunked", "#{chunk("hello")}0\r\n\r\n") + hidden
        end
        add("a body that looks like a request") do |to, hidden|
          post(to, "Content-Length: #{hidden.size}", hidden)
        end
        add("an upgrade with a body") do |to, hidden|
          post(to, "Connection: upgrade\r\nUpgrade: x\r\nContent-Length: #{hidden.size}", hidden)
        end
      end

      def expectations
        { "Expect" => "Expect: 100-continue", "obscured Expect" => "Expect: y 100-continue",
          "two Expect" => "Expect: 100-continue\r\nExpect: x" }.each do |name, line|
          add("#{name} with a length") do |to, hidden|
            post(to, "#{line}\r\nContent-Length: #{hidden.size}", hidden + hidden)
          end
          add("#{name} in chunks") do |to, hidden|
            post(to, "#{line}\r\nTransfer-Encoding: chunked", "0\r\n\r\n#{hidden}")
          end
          add("#{name} without a body") { |to, hidden| get(to, "#{line}\r\n") + hidden }
        end
      end
    end
  end
end
