# frozen_string_literal: true

require_relative "client_process"
require_relative "figure"
require_relative "footprint"
require_relative "idle_clients"
require_relative "server"
require_relative "table"

module Bench
  # What a connection costs that has had one answer and then stays open, idle.
  class IdleCase
    # Footprints before and while the connections are held, and what became of them.
    Sample = Struct.new(:before, :after, :held, :still_open, :answered, keyword_init: true) do
      # Bytes of Pss a connection, in the process that holds it.
      def front_bytes
        (after.front_pss - before.front_pss).fdiv(held)
      end

      # The same for the whole process tree.
      def tree_bytes
        (after.pss - before.pss).fdiv(held)
      end
    end
    HEADINGS = ["server", "connections", "PSS MB before", "PSS MB with them", "bytes each, front process",
                "bytes each, all processes", "still open", "answer again"].freeze

    attr_reader :title, :peers

    def initialize(title:, app:, peers:)
      @title = title
      @app = app
      @peers = peers
    end

    # The crowd's process runs before the first figure, since it shares Ruby's pages with Ruby servers.
    def measure(peer, arguments)
      ClientProcess.beside(peer, @app, "idle_clients") do |server, crowd|
        before = footprint(server, arguments)
        held = crowd.order(:open, count: Server.connections(arguments.idle_connections))
        after = footprint(server, arguments)
        still_open, answered = crowd.order(:check)
        Sample.new(before: before, after: after, held: held, still_open: still_open, answered: answered)
      end
    end

    # samples: Peer => list of Sample.
    def table(samples)
      samples.each_with_object(Table.new(HEADINGS)) do |(peer, list), table|
        table << [peer.name, Figure.count(median(list, &:held)),
                  Figure.megabytes(median(list) { |sample| sample.before.pss }),
                  Figure.megabytes(median(list) { |sample| sample.after.pss }),
                  Figure.count(median(list, &:front_bytes)), Figure.count(median(list, &:tree_bytes)),
                  Figure.count(median(list, &:still_open)),
                  "#{median(list, &:answered).round}/#{IdleClients::PROBES}"]
      end
    end

    private

    def footprint(server, arguments)
      sleep(arguments.settle)
      Footprint.new(server.members_by_role)
    end

    def median(list, &)
      Series.new(list.map(&)).median
    end
  end
end
