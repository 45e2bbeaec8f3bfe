# frozen_string_literal: true

require "set"

module Bench
  # One run of bench/run: the cases in turn, the servers of each interleaved round by round.
  class Run
    # Returns the exit status.
    def self.start(argv)
      options = Options.parse(argv)
      run = new(options)
      options.list ? run.list : run.measure(["bench/run", *argv].join(" "))
      0
    rescue Failure => e
      warn("bench: #{e.message}")
      1
    rescue Interrupt
      130
    end

    def initialize(options)
      @options = options
      @cases = Cases.named(options.cases)
      @servers = Servers.checked(options.servers)
      @obstacles = Set.new
    end

    def list = Cases::ALL.each { |kase| puts "#{kase.name}: #{kase.servers.join(", ")}" }

    # Measures the cases and prints their tables, below the command; returns a Hash of rows by Case.
    def measure(command)
      raise Failure, Wrk.obstacle if Wrk.obstacle

      $stdout.sync = true
      specs = @cases.to_h { |kase| [kase, able?(kase.name) { kase.obstacle } ? able_specs(kase) : []] }
      specs.reject! { |_, list| list.empty? }
      raise Failure, "no server can run here" if specs.empty?

      results = open_results(command, specs.values.flatten)
      specs.to_h { |kase, list| [kase, kase.rows(rounds(kase, list)).tap { |rows| report(kase, rows, results) }] }
    end

    private

    def able_specs(kase)
      kase.specs.select { |spec| wanted?(spec) && able?(spec.name) { spec.obstacle.call } }
    end

    def wanted?(spec)
      @servers.nil? || (@servers.intersect?([spec.name, spec.family]) && !@servers.include?("-#{spec.name}"))
    end

    # Says why a case or a server is left out, once for each reason.
    def able?(name)
      obstacle = yield
      warn("#{name} is left out: #{obstacle}") if obstacle && @obstacles.add?(obstacle)
      obstacle.nil?
    end

    def open_results(command, specs)
      head = { command: command, machine: Machine.description,
               versions: specs.uniq(&:family).map { |spec| spec.version.call } }
      puts "`#{head[:command]}`", "", head[:machine], "", head[:versions].join("; ")
      Results.new(**head)
    end

    # ServerSpec => its rounds. Every round starts with another server.
    def rounds(kase, specs)
      collected = specs.to_h { |spec| [spec, []] }
      total = kase.once ? 1 : @options.rounds
      total.times do |round|
        specs.rotate(round).each do |spec|
          warn("#{kase.name}: round #{round + 1} of #{total}: #{spec.name}")
          collected.fetch(spec) << BusyLoops.beside(kase.busy ? @options.beside : 0) { kase.sample(spec, @options) }
        end
      end
      collected
    end

    def report(kase, rows, results)
      puts "", "### #{kase.title} (`#{kase.name}`)", "", kase.table(rows)
      results.add(kase, rows)
      results.write(@options.json) if @options.json
    end
  end
end
