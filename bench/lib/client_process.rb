# frozen_string_literal: true

require "json"
require "rbconfig"
require_relative "failure"
require_relative "server"

module Bench
  # A client program of its own, seen from the benchmark. It is started before the first figure is taken, since it
  # shares Ruby's pages with Ruby servers, and takes no time from the thread that samples memory.
  class ClientProcess
    ANSWER_SECONDS = 180
    BOOT = "Bench::Orders.obey(Bench.const_get(ARGV.fetch(0)).new(Integer(ARGV.fetch(1))), $stdin, $stdout)"

    # Runs the server of this Peer and rackup file with the programs of lib/FILE.rb, yields the Server and each
    # ClientProcess, and ends them all; gives the block's value.
    def self.beside(peer, app, *files)
      Server.run(peer, app) do |server|
        programs = []
        files.each { |file| programs << new(server.port, file) }
        yield server, *programs
      ensure
        programs&.each(&:close)
      end
    end

    def initialize(port, file)
      @name = file.split("_").map(&:capitalize).join
      @pipe = IO.popen([RbConfig.ruby, "-r", File.join(__dir__, "orders.rb"), "-r", File.join(__dir__, "#{file}.rb"),
                        "-e", BOOT, "--", @name, port.to_s],
                       "r+", rlimit_nofile: Server.descriptors)
      answer
    end

    # Calls a method of the program and gives what it answers; Hash keys are Symbols.
    def order(name, **arguments)
      tell(name, **arguments)
      answer
    end

    # The first half of an order, for several programs that work at the same time.
    def tell(name, **arguments)
      @pipe.puts(JSON.generate([name, arguments]))
    end

    def answer
      line = @pipe.wait_readable(ANSWER_SECONDS) && @pipe.gets
      raise Failure, "#{@name}: no answer in #{ANSWER_SECONDS} s" unless line

      JSON.parse("[#{line}]", symbolize_names: true).first
    end

    def close
      Process.kill(:KILL, @pipe.pid)
      @pipe.close
    end
  end
end
