# frozen_string_literal: true

require_relative "http_client"

module Bench
  # The client side of idle connections, a program of its own: orders come as lines on its standard
  # input, and each is answered with one line of figures.
  class IdleClients
    # Connections that are opened at once; below every server's backlog.
    BATCH = 250
    # Loopback addresses to connect from, so that ports do not run out.
    SOURCES = Array.new(4) { |index| "127.0.0.#{index + 2}" }.freeze
    # Connections that are used once more at the end.
    PROBES = 20

    def self.start(argv)
      new(Integer(argv.fetch(0))).obey($stdin, $stdout)
    end

    def initialize(port)
      @port = port
      @clients = []
    end

    # "open 10000" answers the number of connections held, "check" how many are open and how many of
    # PROBES answered again; the end of the input ends the program.
    def obey(input, output)
      output.sync = true
      input.each_line do |order|
        case order.split
        in ["open", count] then output.puts(open(Integer(count)))
        in ["check"] then output.puts("#{@clients.count(&:open?)} #{answered_again}")
        end
      end
    end

    private

    def open(count)
      count.times.each_slice(BATCH) do |indexes|
        batch = indexes.map { |index| HttpClient.new(@port, source: SOURCES[index % SOURCES.size]) }
        batch.each { |client| client.ask("/") }
        @clients.concat(batch.select { |client| answered?(client) })
      end
      @clients.size
    end

    def answered_again
      step = [@clients.size / PROBES, 1].max
      @clients.each_slice(step).first(PROBES).count do |client, *|
        client.ask("/")
        answered?(client)
      rescue *HttpClient::GONE
        false
      end
    end

    def answered?(client)
      client.answer.status == 200
    rescue *HttpClient::GONE
      false
    end
  end
end
