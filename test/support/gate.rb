# frozen_string_literal: true

module Support
  # An application whose requests wait until the test lets them go, and that notes each request it begins.
  class Gate
    # Answers every request with the worker's pid; one whose path begins with /gate only when the gate is open.
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

    # @param directory [ServerDirectory] of a server with APP, or with one that treats the two files likewise
    def initialize(directory)
      @directory = directory
    end

    # Lets all requests go, those that are still to come included.
    def open
      @directory.write("gate", "")
    end

    # The requests that the application has begun, in their order.
    # @return [Array<Arrival>]
    def arrivals
      @directory.read("arrivals").lines.map do |line|
        verb, path, pid = line.split
        Arrival.new(verb, path, pid.to_i)
      end
    end
  end
end
