# frozen_string_literal: true

require "json"
require "rbconfig"

module Bench
  # A client that runs as a program of its own and is called over a pipe: one JSON line for a call, one for its result.
  # It starts before anything is measured, because it shares Ruby's pages with Ruby servers, and it takes no time from
  # the thread that samples memory.
  class ClientProcess
    RESULT_SECONDS = 1800
    LIBRARY = File.expand_path("../bench.rb", __dir__)
    PROGRAM = "Bench::ClientProcess.serve(Bench.const_get(ARGV.fetch(0)).new(Integer(ARGV.fetch(1))), $stdin, $stdout)"

    # Runs the server and a client program for each of these classes, yields the Server and every ClientProcess, and
    # ends them all; returns the block's value.
    def self.beside(spec, app, *names)
      Server.run(spec, app) do |server|
        programs = []
        names.each { |name| programs << new(name, server.port) }
        yield server, *programs
      ensure
        programs&.each(&:close)
      end
    end

    # The loop of the program: calls the client's methods until the input ends. The first line says that it is ready.
    def self.serve(client, input, output)
      output.sync = true
      output.puts("true")
      input.each_line do |line|
        name, arguments = JSON.parse(line, symbolize_names: true)
        output.puts(JSON.generate(client.public_send(name, **arguments)))
      end
    end

    def initialize(name, port)
      @name = name
      @pipe = IO.popen([RbConfig.ruby, "-r", LIBRARY, "-e", PROGRAM, "--", name, port.to_s], "r+",
                       rlimit_nofile: Server.descriptors)
      result
    end

    # Calls a method of the client and returns its result; keys of Hashes are Symbols.
    def call(name, **arguments)
      @pipe.puts(JSON.generate([name, arguments]))
      result
    end

    def close
      Process.kill(:KILL, @pipe.pid)
      @pipe.close
    end

    private

    def result
      line = @pipe.wait_readable(RESULT_SECONDS) && @pipe.gets
      raise Failure, "#{@name}: no result after #{RESULT_SECONDS} s" unless line

      JSON.parse("[#{line}]", symbolize_names: true).first
    end
  end
end
