# frozen_string_literal: true

module Support
  module Differential
    # Requests sorted by the case that their targets name; see Case.
    class ByCase
      TARGET = %r{/([a-z])/(\d+)(/[^?#]*)}n
      # As proxies write a byte into a target, and into a log.
      ESCAPE = /(?:%|\\x)(\h\h)/n

      # Requests whose target names no case.
      attr_reader :others

      # @param requests [Array] of [method, target, ...]
      # @param letter [String] only those with this letter
      def initialize(requests, letter)
        @cases = Hash.new { |cases, number| cases[number] = [] }
        @others = []
        requests.each { |request| add(request, letter) }
      end

      # The requests of the case: [method, the rest of the path, ...].
      def [](number)
        @cases.fetch(number, [])
      end

      private

      def add((verb, target, *more), letter)
        match = TARGET.match(target)
        return @others << [verb, target, *more] unless match

        path = match[3].gsub(ESCAPE) { Regexp.last_match(1).hex.chr }
        @cases[match[2].to_i] << [verb, path, *more] if match[1] == letter
      end
    end
  end
end
