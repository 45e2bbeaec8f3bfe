# frozen_string_literal: true

require "socket"
require_relative "../../test/support/eventually"

module Image
  # Runs the command of an image, and stops it while requests are running.
  class Trial
    include Support::Eventually

    REQUESTS = 6
    # The application of the trial: its responses say who runs it, and take a second.
    APP = <<~'RUBY'
      run(lambda do |_env|
        warn "arrived"
        sleep 1
        [200, {}, ["user #{Process.uid}"]]
      end)
    RUBY

    # @param stage [Stage] the last of the image
    # @param command [Array<String>] the program of CMD
    # @param log [String] the path of a file for its output
    def initialize(stage, command, log)
      @stage = stage
      @command = command
      @log = log
    end

    # Aborts when something is wrong.
    def run
      pid = @stage.start(@command, @log, "PORT" => "0", "RAILS_MAX_THREADS" => REQUESTS.to_s)
      port = eventually(message: "a listener") { text[/listening url=\S+:(\d+)/, 1] || ended(pid) }.to_i
      clients = Array.new(REQUESTS) { ask(port) }
      eventually(message: "the requests") { text.scan(/^arrived$/).size == REQUESTS }
      Process.kill(:TERM, File.read("/proc/#{pid}/task/#{pid}/children").to_i)
      responses = clients.map(&:read)
      status = Process.wait2(pid).last
      check(responses, status)
    end

    private

    def ask(port)
      request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
      TCPSocket.new("127.0.0.1", port).tap { |socket| socket.write(request) }
    end

    def check(responses, status)
      abort "not the first process of its container:\n#{text}" unless text.include?("stopped pid=1")
      right = responses.grep(/\AHTTP\/1\.1 200 .*\r\n\r\nuser #{@stage.user.to_i}\z/m)
      abort "#{right.size} of #{REQUESTS} responses, #{status}:\n#{text}" if right.size < REQUESTS || !status.success?
      puts "user #{@stage.user}: #{REQUESTS} requests served during SIGTERM, #{status}"
    end

    def ended(pid)
      abort text if Process.wait(pid, Process::WNOHANG)
    end

    def text
      File.read(@log)
    end
  end
end
