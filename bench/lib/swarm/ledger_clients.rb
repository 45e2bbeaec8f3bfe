# frozen_string_literal: true

require "net/http"

module Bench
  # Clients of apps/ledger.ru: half of them send GET, the others POST, and each request has a number of its own.
  class LedgerClients
    CLIENTS = 8
    private_constant :CLIENTS

    # What became of requests: a Hash of statuses by number, and the lines of the ledger.
    def self.compare(answers, lines)
      served = lines.tally
      lost = answers.reject { |_, status| status == "200" }
      posts = lost.count { |id, _| id.start_with?("post") }
      twice = answers.count { |id, _| served.fetch(id, 0) > 1 }
      vanished = answers.count { |id, status| status == "200" && !served.key?(id) }
      "#{answers.size} requests, not answered with 200: #{lost.size} #{lost.values.tally} (#{posts} of them POST), " \
        "run twice #{twice}, answered but not run #{vanished}"
    end

    # Returns the status of each request that clients made while the block ran, by its number.
    def load(url)
      stop = false
      @round = @round.to_i + 1
      clients = Array.new(CLIENTS) { |index| Thread.new { client(url, index) { stop } } }
      yield
      stop = true
      clients.flat_map(&:value).to_h
    ensure
      stop = true
      clients.each(&:join)
    end

    # Returns the status of a request, or the name of the error.
    def get(path, url) = ask(url) { |http| http.get("/#{path}") }

    private

    def client(url, index)
      verb = index.even? ? "get" : "post"
      (1..).lazy.take_while { !yield }.map do |number|
        id = "#{verb}-#{@round}-#{index}-#{number}"
        [id, index.even? ? get(id, url) : post(id, url)]
      end.to_a
    end

    def post(path, url) = ask(url) { |http| http.post("/#{path}", "") }

    def ask(url, &)
      uri = URI(url)
      Net::HTTP.start(uri.host, uri.port, open_timeout: 5, read_timeout: 70, max_retries: 0, &).code
    rescue SystemCallError, EOFError, Net::OpenTimeout, Net::ReadTimeout => e
      e.class.name
    end
  end
end
