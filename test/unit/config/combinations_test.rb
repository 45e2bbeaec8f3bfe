# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/configuration"
require "carat/config/sources/flags"
require_relative "../../support/workplace"

module Carat
  class CombinationsTest < Minitest::Test
    include Support::Workplace

    def test_fibers_and_threads_in_one_file_are_refused_and_a_flag_decides
      write("carat.rb", "fibers 10\nthreads 5\n")
      assert_refused "carat.rb:2: threads: fibers takes its place, since a worker runs either: leave out one of them"
      write("carat.rb", "threads 5\n")

      assert_equal 10, configure("-f10")[:fibers]
    end

    def test_metrics_need_an_address_of_their_own
      pairs = { "0.0.0.0:9292" => "127.0.0.1:9292", "127.0.0.1:80" => "localhost:80", "[::1]:80" => "[::]:80",
                "*:9394" => "127.0.0.1:9394", "0.0.0.0:80" => "*:80", "localhost:80" => "[::1]:80" }
      pairs.each do |bind, other|
        write("carat.rb", "bind \"tcp://#{bind}\"\nmetrics \"tcp://#{other}\"\n")
        assert_refused "carat.rb:2: metrics: \"tcp://#{other}\" is taken by bind, or named twice: choose another port"
      end
      write("carat.rb", "metrics \"tcp://127.0.0.1:1\", \"tcp://127.0.0.1:1\"\n")
      assert_refused 'carat.rb:1: metrics: "tcp://127.0.0.1:1" is taken by bind, or named twice: choose another port'
      { "127.0.0.1:1" => "127.0.0.2:1", "0.0.0.0:1" => "[::1]:1" }.each do |bind, other|
        write("carat.rb", "bind \"tcp://#{bind}\"\nmetrics \"tcp://#{other}\", \"tcp://127.0.0.3:0\"\n")
        assert_equal 2, configure[:metrics].size
      end
    end

    def test_a_compiler_that_this_ruby_lacks_is_refused
      name = %w[YJIT ZJIT].find { |it| !RubyVM.const_defined?(it) || !RubyVM.const_get(it).respond_to?(:enable) }
      skip "this Ruby has both" unless name
      write("carat.rb", "jit :#{name.downcase}\n")

      assert_refused "carat.rb:1: jit: Ruby #{RUBY_VERSION} cannot enable #{name}: choose auto or off, or another Ruby"
    end

    def test_a_file_that_is_awaited_has_a_directory
      write("carat.rb", "restart_file \"nowhere/restart.txt\"\n")
      assert_refused "carat.rb:1: restart_file: there is no directory #{path("nowhere")}"
      %w[restart.txt tmp/restart.txt].each do |name|
        write("carat.rb", "restart_file #{name.inspect}\n")
        assert_equal name, configure[:restart_file]
      end
      assert_raises(Config::ConfigError) { configure("--maintenance", "nowhere/page.html") }
    end

    def test_a_process_that_never_runs_is_refused
      process = ->(only) { "process(\"jobs\", only: #{only.inspect}) { sleep }\n" }
      message = "carat.rb:1: process \"jobs\": only: there is no environment"
      write("carat.rb", process[:prod])
      assert_refused "#{message} prod; did you mean production?"
      assert_equal "prod", configure("-e", "prod")[:environment]
      write("carat.rb", process[%w[production sandbox]])
      assert configure
      write("config/environments/production.rb", "")
      assert_refused "#{message} sandbox"
    end

    private

    def configure(*argv)
      flags = Config::Flags.new
      flags.parse(argv)
      write("config.ru", "")
      Config::Configuration.new(flags.settings, {})
    end

    def assert_refused(message)
      assert_equal message, assert_raises(Config::ConfigError) { configure }.message
    end
  end
end
