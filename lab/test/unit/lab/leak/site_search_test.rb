# frozen_string_literal: true

require "minitest/autorun"
require "stringio"
require "carat/lab/leak/site_search"
require "carat/lab/progress"

module Carat
  class SiteSearchTest < Minitest::Test
    # A server that has seen enough after so many requests since "watch".
    class Server
      attr_reader :watched

      def initialize(enough)
        @enough = enough
      end

      def request(_targets, count)
        @watched += count if @watched
      end

      def ask(order)
        @watched = 0 if order == "watch"
        case order
        when "watched" then { enough: @watched >= @enough }
        when "sites" then { lines: [], containers: [] }
        end
      end
    end

    # 300 containers that are filled in turn: 101 requests may fill none of those that are watched.
    def test_watch_goes_on_until_it_has_seen_what_fills_each_kind_of_container
      assert_equal [101, 303, 1010], [0, 300, 100_000].map { |enough| watched(enough) }
    end

    private

    def watched(enough)
      server = Server.new(enough)
      Lab::Leak::SiteSearch.new(server, ["/"], 1009, Lab::Progress.new(StringIO.new)).call
      server.watched
    end
  end
end
