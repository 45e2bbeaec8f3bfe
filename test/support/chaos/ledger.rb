# frozen_string_literal: true

module Support
  module Chaos
    # Which requests the application has run, as it wrote them down itself.
    class Ledger
      FILE = "ledger"
      # Responds with the SHA-256 of the body, to /bulky with many copies of it; in a tunnel, of what comes. One of
      # /websockets begins with the pid, and returns each message. It writes a line when it begins a request and one
      # when it has finished it, each with one system call at the end of the file: those of processes do not mix.
      APP = <<~'RUBY'
        require "digest/sha2"
        LEDGER = File.open("ledger", "a")
        HOARD = []
        note = lambda do |event, env, digest = "-"|
          LEDGER.syswrite("#{event} #{env["REQUEST_METHOD"]} #{env["PATH_INFO"]} #{digest}\n")
        end
        work = {
          "slow" => -> { sleep 0.02 },
          "hoard" => -> { HOARD << ("x" * 20_000_000) },
          "eat" => -> { loop { HOARD << ("x" * 5_000_000) } }
        }
        run(lambda do |env|
          note.call("begun", env)
          finish = lambda do |input, length = 16_384, &echo|
            digest = Digest::SHA256.new
            buffer = String.new
            while input.read(length, buffer)
              digest << buffer
              echo&.call(buffer)
            end
            work[env["PATH_INFO"].split("/")[1]]&.call
            note.call("finished", env, digest.hexdigest)
            digest.hexdigest
          end
          tunnel = lambda do |io, length = nil|
            io.write("#{Process.pid}\n") if length
            io.write(length ? finish.call(io, length) { |message| io.write(message) } : finish.call(io))
            io.close
          rescue NoMemoryError
            exit!
          end
          headers = { "x-worker" => Process.pid.to_s }
          next [200, headers.merge("rack.hijack" => tunnel), []] if env["PATH_INFO"].start_with?("/tunnel")

          websocket = ->(io) { tunnel.call(io, 50) }
          upgrade = { "connection" => "upgrade", "upgrade" => "websocket" }
          next [101, upgrade, websocket] if env["PATH_INFO"].start_with?("/websockets")

          copies = env["PATH_INFO"].start_with?("/bulky") ? 5000 : 1
          [200, headers, [finish.call(env["rack.input"]) * copies]]
        end)
      RUBY

      # begun, finished: how often by [verb, path]; digests: of the bodies that finished requests had.
      attr_reader :begun, :finished, :digests

      # @param directory [ServerDirectory] of a server that runs APP
      def self.of(directory)
        new(directory.read(FILE))
      end

      def initialize(text)
        lines = text.lines.map(&:split)
        @begun, @finished = %w[begun finished].map do |event|
          lines.select { |line| line.first == event }.map { |line| line[1, 2] }.tally
        end
        @begun.default = @finished.default = 0
        @digests = lines.to_h { |event, verb, path, digest| [[verb, path], (digest if event == "finished")] }
      end

      # What must not be: sentences, none when every request ran as often as its client was told.
      # @param outcomes [Array<Outcome>] of all requests that were ever sent
      def contradictions(outcomes)
        known = outcomes.map { |outcome| [outcome.verb, outcome.path] }
        strangers = (@begun.keys - known).map { |request| "#{request.join(" ")} ran, and nobody had sent it" }
        strangers + outcomes.filter_map do |outcome|
          why = contradiction(outcome)
          "#{outcome}: #{why}" if why
        end
      end

      private

      def contradiction(outcome)
        key = [outcome.verb, outcome.path]
        return "vanished, or an unexpected status" unless outcome.expected?
        return "begun #{@begun[key]} times" if @begun[key] > (outcome.post? ? 1 : 2)
        return unserved(outcome, key) if outcome.served?

        "begun, although its client was told otherwise" if outcome.post? && outcome.never_begun? && @begun.key?(key)
      end

      # Why a 200 is wrong; nil when it is right.
      def unserved(outcome, key)
        return "never finished" unless @finished.key?(key)

        "another body" unless [outcome.digest, @digests[key], outcome.body].uniq.one?
      end
    end
  end
end
