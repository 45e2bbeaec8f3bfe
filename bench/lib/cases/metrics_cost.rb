# frozen_string_literal: true

require "tmpdir"

module Bench
  # What counting requests costs: user instructions of edge and worker, without and with the option `metrics`.
  class MetricsCost
    REQUESTS = 8000
    CLIENTS = 8
    IDLE_SECONDS = 10
    # Under valgrind, everything takes fifty times as long.
    READY_SECONDS = 300
    METRICS = %w[--metrics tcp://127.0.0.1:0].freeze

    def self.call(spec, _options)
      plain, counted = [[], METRICS].map { |flags| Dir.mktmpdir { |directory| new(spec, directory).run(flags) } }
      { plain: plain, counted: counted, cost: counted - plain, percent: 100.0 * (counted - plain) / plain }
    end

    def self.obstacle = Executable.obstacle("valgrind", "apt install valgrind") || H2load.obstacle

    def initialize(spec, directory)
      @spec = spec
      @directory = directory
      @parts = 0
    end

    # Returns the instructions a request, without those of a server that idles.
    def run(flags)
      Server.run(watched(flags), File.join(APPS, "hello.ru"), within: READY_SECONDS) do |server|
        load(server)
        part(server)
        sleep(IDLE_SECONDS)
        idle = part(server)
        seconds = load(server)
        (part(server) - (idle * seconds / IDLE_SECONDS)).fdiv(REQUESTS)
      end
    end

    private

    # Its processes have valgrind's name.
    def watched(flags)
      valgrind = %W[valgrind -q --tool=callgrind --trace-children=yes --callgrind-out-file=#{@directory}/out.%%p]
      command = [*valgrind, *@spec.command, "--boot-timeout", READY_SECONDS.to_s, *flags]
      @spec.with(command: command, roles: { "carat" => // })
    end

    # Returns how many seconds it took.
    def load(server)
      command = %W[h2load --h1 -n #{REQUESTS} -c #{CLIENTS} http://127.0.0.1:#{server.port}/]
      REQUESTS / H2load.parse(IO.popen(command, err: %i[child out], &:read)).rate
    end

    # Returns the instructions of all processes since the last call.
    def part(server)
      @parts += 1
      system("callgrind_control", "--dump", *server.pids.map(&:to_s), %i[out err] => File::NULL, exception: true)
      parts = Dir["#{@directory}/out.*.#{@parts}"]
      parts.sum { |path| Integer(File.read(path)[/^totals: (\d+)/, 1]) }
    end

    CASES = [
      Case.new(
        name: "metrics-cost", title: "Hello world, without and with metrics: user instructions a request",
        servers: %w[carat], needs: method(:obstacle), once: true, measure: method(:call),
        columns: [
          Column.new("without", :plain), Column.new("with", :counted), Column.new("cost", :cost),
          Column.new("percent", :percent, places: 2, target: Target.below(1))
        ]
      )
    ].freeze
  end
end
