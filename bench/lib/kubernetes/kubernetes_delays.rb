# frozen_string_literal: true

module Bench
  # Rolling updates in which pods end with several values of `drain_delay`, or with a preStop hook. Beside the clients
  # of the Service are those of LateProxies.
  class KubernetesDelays
    # The hook in place of a delay.
    HOOK = { "preStop" => { "sleep" => { "seconds" => 5 } } }.freeze
    # What pods have when they end, one after another: the delay, and a hook.
    ENDS = [["20s", nil], ["off", nil], ["1s", nil], ["5s", nil], ["off", HOOK], ["10s", nil]].freeze
    CLIENTS = 4
    private_constant :HOOK, :ENDS, :CLIENTS

    # The change of a container that gives it these.
    def self.change(delay, hook)
      { "env" => [{ "name" => "CARAT_DRAIN_DELAY", "value" => delay }], "lifecycle" => hook }
    end

    def initialize(app)
      @app = app
    end

    def run
      change(*ENDS.first)
      proxies = [LateProxies::Listing.new(@app), LateProxies::Probing.new(@app)]
      renewals = proxies.map { |proxy| Thread.new { loop { sleep(LateProxies::SECONDS) && proxy.renew } } }
      (ENDS + [ENDS.first]).each_cons(2).with_index do |(ending, following), index|
        puts "pods that end with drain_delay #{ending.first}, #{ending.last ? "preStop" : "no hook"}:"
        puts trial(proxies, index, following)
      end
    ensure
      renewals&.each(&:kill)
    end

    private

    # Sentences about clients while all pods are replaced.
    def trial(proxies, index, following)
      begun = Bench.now
      urls = [["the Service", @app.url], *proxies.map { |proxy| [proxy.to_s, proxy] }]
      beside(urls, index) { change(*following) } << "  #{(Bench.now - begun).round} s"
    end

    def change(delay, hook)
      @app.change(self.class.change(delay, hook))
      @app.settled
    end

    # Runs the block beside clients of each URL; returns a sentence about those of each.
    def beside(urls, index, &block)
      (name, url), *others = urls
      clients = LedgerClients.new(clients: CLIENTS, name: "#{index}-#{others.size}")
      further = []
      sentence = clients.account(url, @app.ledger) { others.empty? ? yield : further = beside(others, index, &block) }
      ["  #{name}: #{sentence}", *further]
    end
  end
end
