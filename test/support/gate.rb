# frozen_string_literal: true

module Support
  # An application that holds requests until the test releases them, and records each request that it begins.
  class Gate
    # Responds with the worker's pid; to a path that begins with /gate only when the gate is open.
    APP = <<~'RUBY'
      run(lambda do |env|
        File.write("arrivals", "#{env["REQUEST_METHOD"]} #{env["PATH_INFO"]} #{Process.pid}\n", mode: "a")
        sleep 0.005 until !env["PATH_INFO"].start_with?("/gate") || File.exist?("gate")
        [200, { "content-type" => "text/plain" }, [Process.pid.to_s]]
      end)
    RUBY

    # Holds the GVL for longer than any test: no other thread runs, and no signal but SIGKILL works.
    GVL_HOLDER = '"x".crypt("$6$rounds=999999999$carat$")'

    # One request that the application has begun.
    Arrival = Struct.new(:verb, :path, :pid)

    # @param directory [ServerDirectory] of a server whose application uses the two files as APP does
    def initialize(directory)
      @directory = directory
    end

    # Releases all requests, including later ones.
    def open
      @directory.write("gate", "")
    end

    # The requests that the application has begun, in order.
    # @return [Array<Arrival>]
    def arrivals
      @directory.read("arrivals").lines.map do |line|
        verb, path, pid = line.split
        Arrival.new(verb, path, pid.to_i)
      end
    end
  end
end
