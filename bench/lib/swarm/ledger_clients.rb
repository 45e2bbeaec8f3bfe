# frozen_string_literal: true

require "digest/sha2"
require "net/http"

module Bench
  # Clients of apps/ledger.ru: half of them send GET, the others POST, and further ones upload. Each request has a
  # number and a connection of its own.
  class LedgerClients
    CLIENTS = 8
    # More than travels in a frame.
    UPLOAD = ("0123456789abcdef" * 20_000).freeze
    DIGEST = Digest::SHA256.hexdigest(UPLOAD)
    # How long a client that repeats goes on, and its pause between two attempts.
    REPEAT_SECONDS = 10
    PAUSE_SECONDS = 0.1
    private_constant :CLIENTS, :UPLOAD, :DIGEST, :REPEAT_SECONDS, :PAUSE_SECONDS

    # What became of requests: a Hash of statuses by number, and the lines of the ledger.
    def self.compare(answers, lines)
      served = lines.tally
      lost = answers.reject { |_, status| status == "200" }
      posts = lost.count { |id, _| !id.start_with?("get") }
      twice = answers.count { |id, _| served.fetch(id, 0) > 1 }
      vanished = answers.count { |id, status| status == "200" && !served.key?(id) }
      "#{answers.size} requests, not answered with 200: #{lost.size} #{lost.values.tally} (#{posts} of them POST), " \
        "run twice #{twice}, answered but not run #{vanished}"
    end

    # @param clients [Integer] how many send GET or POST
    # @param uploads [Integer] how many upload
    # @param name [String] what tells their requests from those of other clients of the same ledger
    # @param repeats [Boolean] whether a request goes on that got no connection, of which no server has seen anything
    def initialize(clients: CLIENTS, uploads: 0, name: "a", repeats: false)
      @verbs = Array.new(clients) { |index| index.even? ? "get" : "post" } + (["upload"] * uploads)
      @name = name
      @repeats = repeats
    end

    # Returns the status of each request that clients made while the block ran, by its number. url: or what returns one
    # for each request
    def load(url)
      stop = false
      @round = @round.to_i + 1
      clients = @verbs.map.with_index { |verb, index| Thread.new { client(url, verb, index) { stop } } }
      yield
      stop = true
      clients.flat_map(&:value).to_h
    ensure
      stop = true
      clients.each(&:join)
    end

    # Runs the block under load; returns a sentence about what clients got, and the ledger.
    def account(url, ledger, &) = self.class.compare(load(url, &), File.readlines(ledger, chomp: true))

    # Returns the status of a request, or the name of the error.
    def get(path, url) = ask(url) { |http| http.get("/#{path}").code }

    private

    def client(url, verb, index)
      (1..).lazy.take_while { !yield }.map do |number|
        id = "#{verb}-#{@name}-#{@round}-#{index}-#{number}"
        [id, send(verb, id, url)]
      end.to_a
    end

    def post(path, url) = ask(url) { |http| http.post("/#{path}", "").code }

    def upload(path, url)
      ask(url) do |http|
        response = http.post("/#{path}", UPLOAD)
        response.code == "200" && response.body != DIGEST ? "wrong digest" : response.code
      end
    end

    def ask(url, &)
      begun = Bench.now
      begin
        uri = URI(url.respond_to?(:call) ? url.call : url)
        Net::HTTP.start(uri.host, uri.port, open_timeout: 5, read_timeout: 70, max_retries: 0, &)
      rescue Errno::ECONNREFUSED => e
        @repeats && Bench.now - begun < REPEAT_SECONDS && sleep(PAUSE_SECONDS) ? retry : e.class.name
      end
    rescue SystemCallError, EOFError, Net::OpenTimeout, Net::ReadTimeout => e
      e.class.name
    end
  end
end
