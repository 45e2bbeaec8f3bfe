# frozen_string_literal: true

require "fileutils"
require "net/http"
require "open3"
require "rbconfig"
require "timeout"
require "tmpdir"
require_relative "../../test/support/rails_app"

module PlatformGem
  # Installs a platform gem on a machine without a compiler, and runs a Rails application with it.
  class Check
    COMPILERS = %w[cargo rustc gcc cc clang make].freeze
    SERVES_WITHIN_SECONDS = 10
    DEADLINE_SECONDS = 120

    # `gem` is the path of a gem.
    def initialize(gem)
      @gem = File.expand_path(gem)
    end

    # Prints a line for each step; aborts at the first that fails.
    def run
      refuse_compilers
      report("gem install", seconds { run_command("gem", "install", "--local", "--no-document", @gem) })
      report("carat --version", seconds { run_command("carat", "--version") })
      Dir.mktmpdir { |directory| Dir.chdir(directory) { check_rails } }
    end

    private

    def refuse_compilers
      paths = ENV.fetch("PATH").split(":").product(COMPILERS).map { |parts| File.join(*parts) }
      found = paths.select { |path| File.executable?(path) } + Dir.glob("/usr/lib/{*/,*/*/}libclang*")
      abort "not a machine without a compiler: #{found.join(", ")}" if found.any?
    end

    def check_rails
      Support::RailsApp::FILES.each do |path, text|
        FileUtils.mkdir_p(File.dirname(path))
        File.write(path, text)
      end
      serving = serve
      report("rails server -u carat, until the first response", serving)
      abort "more than #{SERVES_WITHIN_SECONDS} s" if serving > SERVES_WITHIN_SECONDS
    end

    # Returns the seconds until the first response.
    def serve
      Open3.popen2e(*%w[ruby bin/rails server -u carat -p 0]) do |_input, output, server|
        seconds { Timeout.timeout(DEADLINE_SECONDS) { ask(output) } }
      ensure
        Process.kill(:TERM, server.pid)
        output.read
        server.join
      end
    end

    def ask(output)
      log = +""
      log << output.readline until (url = log[/listening url=(\S+)/, 1])
      body = Net::HTTP.get(URI("#{url}/items/7"))
      abort "unexpected response: #{body}" unless body.start_with?("item 7 of ")
    rescue EOFError
      abort "the server ended:\n#{log}"
    end

    def run_command(*words)
      output, status = Open3.capture2e(*words)
      abort "#{words.join(" ")}:\n#{output}" unless status.success?
    end

    def seconds
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      yield
      Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
    end

    def report(step, seconds)
      puts format("Ruby %-8s %-50s %5.2f s", RUBY_VERSION, step, seconds)
    end
  end

  Check.new(ARGV.fetch(0)).run if $PROGRAM_NAME == __FILE__
end
