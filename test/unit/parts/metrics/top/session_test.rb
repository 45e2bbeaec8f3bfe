# frozen_string_literal: true

require "json"
require "minitest/autorun"
require "carat/parts/metrics/top"
require_relative "overview"

module Carat
  # What the keys do, with a terminal and a server that are scripts.
  class TopSessionTest < Minitest::Test
    # Each step is what the terminal sends next; the pages are what it showed.
    class Terminal
      attr_reader :pages

      def initialize(size, steps)
        @size = size
        @steps = steps
        @pages = []
      end

      attr_reader :size

      def show(lines, columns) = @pages << lines.map { |line, _| line[0, columns] }

      def wait(_seconds) = Array(@steps.empty? ? :quit : @steps.shift)
    end

    # Replies are Hashes, or reasons why there is none.
    class Server
      attr_reader :asked

      def initialize(replies)
        @replies = replies
        @asked = []
      end

      def get(path, **)
        @asked << path
        reply = @replies.size > 1 ? @replies.shift : @replies.first
        reply.is_a?(Hash) ? JSON.generate(reply) : raise(CLI::ControlError, reply)
      end

      def post(path, **)
        @asked << path
        "{}"
      end

      def forget = @asked << :forget
    end

    STACKS = { "requests" => [{ "worker" => 1, "lane" => 0, "id" => 0, "request" => "GET /reports?a=\e[2J",
                                "stage" => "runs", "age" => 4.5, "waits_for" => "a lock",
                                "stack" => "a.rb:1\nb.rb:2" }],
               "omitted" => 0 }.freeze

    def test_server_that_is_gone_is_said_and_asked_again_and_its_last_figures_stay
      pages = run_with([[], [], :quit], replies: ["carat: x.sock: no server listens there", Overview::ALL])

      assert_equal "trying again: no server listens there", pages[1].last
      assert_includes pages[1].first, "carat 0.1.0, pid 40"
      refute_includes pages[2].last, "trying again"
      assert_equal ["/top", :forget, "/top"], @server.asked
    end

    def test_enter_shows_where_the_selected_request_stands
      pages = run_with(%i[enter escape], replies: [STACKS, Overview::ALL])

      assert_includes pages[1].first, 'worker 1, lane 0: GET /reports?a=\e[2J'
      assert_equal ["runs for 4.5 s, waits for: a lock", "", "a.rb:1", "b.rb:2"], pages[1][1..4]
      assert_includes pages[2].first, "carat 0.1.0"
    end

    def test_request_that_has_ended_is_said
      pages = run_with(%i[down enter], replies: [STACKS])

      assert_equal "the request has ended", pages[2].last
    end

    def test_worker_is_killed_only_after_yes
      pages = run_with(["k", "n", "k", "y"], replies: [Overview::ALL])

      assert_equal "kill worker 1, which has 1 request? y or n", pages[1].last
      assert_equal ["/kill-worker?number=1"], @server.asked.grep(/kill/)
      assert_equal "killed worker 1", pages[4].last
    end

    def test_another_worker_with_the_number_of_the_one_asked_about_is_not_killed
      replaced = Overview::ALL.merge("processes" => [Overview::WORKERS[0].merge("pid" => 99)])
      pages = run_with(["k", [], "y"], replies: [replaced], interval: 0)

      assert_equal "worker 1 has ended", pages[3].last
      assert_empty @server.asked.grep(/kill/)
    end

    def test_processes_are_selected_and_sorted_by_the_next_column
      pages = run_with([:tab, "s", "k"], replies: [Overview::ALL])
      assert_equal "select a worker, or a request", pages[3].last
      labels = pages.map { |page| page.grep(/^(edge|mold|worker \d)/).map { |line| line[/^(edge|mold|worker \d)/] } }

      assert_equal ["edge", "worker 2", "worker 1", "mold"], labels[1]
      assert_includes pages[2].join("\n"), "(by shared)"
    end

    def test_pages_fit_every_terminal
      many = Overview::ALL.merge("requests" => Array.new(50) { |id| Overview::REQUESTS[0].merge("id" => id) })
      [[1, 1], [2, 20], [8, 40], [24, 80], [100, 300]].each do |size|
        pages = run_with([*[:down] * 5, :tab, :page_down], replies: [many], size:, first: many)

        assert(pages.all? { |page| page.size == size[0] && page.all? { |line| line.size <= size[1] } }, size.inspect)
      end
    end

    private

    def run_with(steps, replies:, size: [24, 100], first: Overview::ALL, interval: steps.include?([]) ? 0 : 60)
      @server = Server.new(replies.dup)
      terminal = Terminal.new(size, steps.dup)
      CLI::Top::Session.new(@server, terminal, interval, first).run
      terminal.pages
    end
  end
end
