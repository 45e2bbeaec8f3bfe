# frozen_string_literal: true

require_relative "bound"
require_relative "client_process"
require_relative "figure"
require_relative "footprint"
require_relative "server"
require_relative "table"

module Bench
  # What a request costs that waits, when very many wait at once.
  class SleepersCase
    # asked: how many requests; before, asleep, after: Footprints; times: [from, to] of each that was answered; sampled:
    # when the Footprint of the sleepers was taken.
    Sample = Struct.new(:asked, :before, :asleep, :after, :times, :sampled, keyword_init: true) do
      def bytes
        (asleep.pss - before.pss).fdiv(asked)
      end

      # The same for one kind of process.
      def bytes_of(role)
        (asleep.roles.fetch(role).last - before.roles.fetch(role).last).fdiv(asked)
      end

      # How many slept when the memory was read.
      def together
        times.count { |from, to| sampled.between?(from, to) }
      end
    end
    HEADINGS = ["server", "requests", "answered", "asleep at once", "PSS MB before", "asleep", "after",
                "KB a request", "of that"].freeze
    # Longer than it takes to ask for all of them and to read the memory.
    SECONDS = 20
    KILOBYTES = Bound.at_most(28)

    attr_reader :title, :peers

    def initialize(title:, app:, peers:)
      @title = title
      @app = app
      @peers = peers
    end

    # The clients' process runs before the first figure, since it shares Ruby's pages with Ruby servers.
    def measure(peer, arguments)
      asked = Server.connections(arguments.idle_connections)
      ClientProcess.beside(peer, @app, "sleeping_clients") do |server, clients|
        before = footprint(server, arguments)
        clients.order(:ask, count: asked, path: "/sleep?#{arguments.quick ? SECONDS / 10 : SECONDS}")
        asleep = footprint(server, arguments)
        sampled = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        times = clients.order(:answers)
        Sample.new(asked: asked, before: before, asleep: asleep, sampled: sampled, times: times,
                   after: footprint(server, arguments))
      end
    end

    # samples: Peer => list of Sample.
    def table(samples)
      samples.each_with_object(Table.new(HEADINGS)) do |(peer, list), table|
        asked = list.map(&:asked).max
        table << [peer.name, Figure.count(asked), everyone(peer, asked, list.map { |sample| sample.times.size }),
                  everyone(peer, asked, list.map(&:together)), *%i[before asleep after].map { |time| pss(list, time) },
                  kilobytes(peer, list), peer.roles.keys.map { |role| part(list, role) }.join(", ")]
      end
    end

    private

    def footprint(server, arguments)
      sleep(arguments.settle)
      Footprint.new(server.members_by_role)
    end

    def everyone(peer, asked, counts)
      peer.judged(Bound.at_least(asked), counts.min, Figure.count(counts.min))
    end

    def pss(list, time)
      Figure.megabytes(median(list) { |sample| sample[time].pss })
    end

    def kilobytes(peer, list)
      figure = median(list, &:bytes) / 1024
      peer.judged(KILOBYTES, figure, Figure.decimals(figure, 1))
    end

    def part(list, role)
      "#{role} #{Figure.decimals(median(list) { |sample| sample.bytes_of(role) } / 1024, 1)}"
    end

    def median(list, &)
      Series.new(list.map(&)).median
    end
  end
end
