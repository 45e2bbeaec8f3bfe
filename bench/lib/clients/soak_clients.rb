# frozen_string_literal: true

module Bench
  # Clients that do everything that clients do, in waves (see ClientProcess).
  class SoakClients
    CLIENTS = 16
    PAUSE_SECONDS = 0.02
    # Of each wave, the last third is quiet: one client goes on, so that workers above the minimum have nothing to do.
    WAVE_SECONDS = 30
    REST_SECONDS = 0.2
    SHOWN_FAILURES = 20

    def initialize(port)
      @port = port
    end

    # Starts the clients. file: see SoakClient; seed: of what they do.
    def start(file:, seed:)
      @finished = false
      @failures = Queue.new
      @started = Bench.now
      clients = Array.new(CLIENTS) { |number| SoakClient.new(@port, File.binread(file), Random.new(seed + number)) }
      @threads = clients.map.with_index { |client, number| Thread.new { repeat(client, number) } }
      true
    end

    # Ends them. Returns { done: { kind => number }, wrong: { kind => number }, failures: sentences }.
    def stop
      @finished = true
      tallies = @threads.map(&:value)
      done, wrong = tallies.transpose.map { |list| list.reduce { |one, other| one.merge(other) { |_, a, b| a + b } } }
      { done: done, wrong: wrong, failures: Array.new([@failures.size, SHOWN_FAILURES].min) { @failures.pop } }
    end

    private

    # Returns how often each kind was done, and how often it went wrong.
    def repeat(client, number)
      done, wrong = Hash.new(0), Hash.new(0)
      until @finished
        next sleep(REST_SECONDS) if number.positive? && quiet?

        kind, why = client.step
        done[kind] += 1
        wrong[kind] += 1 if why
        @failures << "#{kind} after #{(Bench.now - @started).round(1)} s: #{why}" if why
        sleep(PAUSE_SECONDS)
      end
      [done, wrong]
    ensure
      client.close
    end

    def quiet? = (Bench.now - @started) % WAVE_SECONDS > WAVE_SECONDS * 2 / 3
  end
end
