# frozen_string_literal: true

require "test_helper"
require "carat/config/sources/processes"

module Carat
  class ConfigProcessesTest < Minitest::Test
    def setup
      @processes = Config::Processes.new
    end

    def test_a_declaration_has_defaults_for_what_it_does_not_say
      declare("jobs") { nil }

      expected = { name: "jobs", count: 1, most: 1, memory: nil, stop_signal: 15, stop_timeout: nil, restart: "always",
                   overlap: false, is_command: false }
      assert_equal [expected], @processes.map(&:for_edge)
    end

    def test_values_have_the_units_and_names_of_options
      declare(:css, count: 2, memory: "400MB", stop_signal: "SIGINT", stop_timeout: "30s", restart: :on_failure,
                    overlap: true, command: "true", environment: { A: 1, "B" => nil })

      expected = { name: "css", count: 2, most: 2, memory: 400 * 1024**2, stop_signal: 2, stop_timeout: 30.0,
                   restart: "on_failure", overlap: true, is_command: true }
      assert_equal expected, @processes["css"].for_edge
      assert_equal({ "A" => "1", "B" => nil }, @processes["css"].environment)
    end

    def test_the_number_follows_a_load_within_a_range
      declare("jobs", count: 0..3, load: -> { 7 }) { nil }
      declare("mail", count: "1..2", load: -> { 7 }) { nil }

      assert_equal([[0, 3], [1, 2]], @processes.map { |it| it.for_edge.values_at(:count, :most) })
      assert_equal 7, @processes["jobs"].load.call
    end

    def test_only_those_for_the_environment_are_run
      declare("all") { nil }
      declare("css", only: :development) { nil }
      declare("both", only: %w[test development]) { nil }

      assert_equal %w[all css both], @processes.in("development").map(&:name)
      assert_equal %w[all], @processes.in("production").map(&:name)
    end

    def test_what_is_wrong_is_refused_with_its_place
      declare("jobs") { nil }
      refused("needs a block or a `command`, and not both") { declare("none") }
      refused("needs a block or a `command`, and not both") { declare("both", command: "true") { nil } }
      refused("is declared twice") { declare("jobs") { nil } }
      refused('"a b" is not a name of letters, digits, - and _') { declare("a b") { nil } }
      refused("the name console is taken by `carat console`") { declare("console") { nil } }
      refused("stop_signal: :NONE is not a signal") { declare("a", stop_signal: :NONE) { nil } }
      refused("memroy: no such setting; did you mean memory?") { declare("a", memroy: 1) { nil } }
      refused('memory: "much" is not a number of bytes') { declare("a", memory: "much") { nil } }
      refused("memory: 400 is not a number of bytes from 1048576 to") { declare("a", memory: 400) { nil } }
      refused('stop_timeout: "x" is not a time') { declare("a", stop_timeout: "x") { nil } }
      refused('command: "" is not a command line') { declare("a", command: "") }
      refused('command: ["bin/rails"] is not a command line') { declare("a", command: %w[bin/rails]) }
      refused("count: 2..1 is not a number of processes up to 1000") { declare("a", count: 2..1) { nil } }
      refused("count: a range needs a load to follow") { declare("a", count: 1..2) { nil } }
      refused("load: needs a range of count") { declare("a", load: -> { 1 }) { nil } }
      refused("load: 1 is not a lambda") { declare("a", count: 1..2, load: 1) { nil } }
      refused('environment: "A=1" is not a Hash') { declare("a", environment: "A=1") { nil } }
    end

    private

    def declare(name, **settings, &)
      @processes.add(name, settings, "carat.rb:3", &)
    end

    def refused(text, &)
      error = assert_raises(Config::ConfigError, &)
      assert_includes error.message, text
      assert_match(/\Acarat\.rb:3: process "[a-z ]+": /, error.message)
    end
  end
end
