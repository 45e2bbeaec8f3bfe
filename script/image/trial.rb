# frozen_string_literal: true

require "open3"
require "socket"
require_relative "../../test/support/eventually"

module Image
  # Runs an image, and stops it while requests are running.
  class Trial
    include Support::Eventually

    REQUESTS = 6
    USER = 1000
    # The application of the trial: its responses say who runs it, and take a second.
    APP = <<~'RUBY'
      run(lambda do |_env|
        warn "arrived"
        sleep 1
        [200, {}, ["user #{Process.uid}"]]
      end)
    RUBY
    # A root that cannot be written to, as in deploy/.
    RUN = ["run", "--detach", "--network", "host", "--read-only",
           *%w[/tmp /var/tmp /app/tmp].flat_map { |path| ["--tmpfs", "#{path}:mode=1777"] },
           "--env", "PORT=0", "--env", "RAILS_MAX_THREADS=#{REQUESTS}"].freeze
    private_constant :RUN

    # @param image [String] its tag
    def initialize(image)
      @image = image
    end

    # Aborts when something is wrong.
    def run
      @container = docker(*RUN, @image).chomp
      port = eventually(message: "a listener") { log[/listening url=\S+:(\d+)/, 1] || ended }.to_i
      clients = Array.new(REQUESTS) { ask(port) }
      eventually(message: "the requests") { log.scan(/^arrived$/).size == REQUESTS }
      docker("kill", "--signal", "TERM", @container)
      responses = clients.map(&:read)
      check(responses, docker("wait", @container).to_i)
    end

    private

    def ask(port)
      request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
      TCPSocket.new("127.0.0.1", port).tap { |socket| socket.write(request) }
    end

    def check(responses, status)
      abort "not the first process of its container:\n#{log}" unless log.include?("stopped pid=1")
      right = responses.grep(/\AHTTP\/1\.1 200 .*\r\n\r\nuser #{USER}\z/m)
      abort "#{right.size} of #{REQUESTS} responses, status #{status}:\n#{log}" if right.size < REQUESTS || status != 0
      puts "user #{USER}: #{REQUESTS} requests served during SIGTERM, status #{status}"
    end

    def ended
      abort log unless docker("inspect", "--format", "{{.State.Running}}", @container).chomp == "true"
    end

    def log
      docker("logs", @container)
    end

    def docker(*words)
      output, status = Open3.capture2e("docker", *words)
      status.success? ? output : abort("docker #{words.first}: #{output}")
    end
  end
end
