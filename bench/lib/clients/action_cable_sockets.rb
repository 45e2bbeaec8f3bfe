# frozen_string_literal: true

require "json"

module Bench
  # Sockets of Rails' own client of Action Cable, in a process of Node. The gem actioncable has the files of the npm
  # package @rails/actioncable.
  class ActionCableSockets
    PROGRAM = File.join(__dir__, "action_cable.cjs")
    CLIENT = "app/assets/javascripts/actioncable.js"
    # The first Node with WebSockets, and the first that needs no flag for them.
    LEAST = Gem::Version.new("20.10")
    UNFLAGGED = Gem::Version.new("22")
    FLAG = "--experimental-websocket"
    private_constant :PROGRAM, :CLIENT, :LEAST, :UNFLAGGED, :FLAG

    # One sentence why there can be none, or nil.
    def self.obstacle
      return "node is not on the PATH (Node.js #{LEAST} or later)" unless Executable.present?("node")
      return "Node.js #{version} has no WebSockets: install #{LEAST} or later" if version < LEAST

      "the gem actioncable is not installed (gem install rails)" unless gem
    end

    def self.version = Gem::Version.new(Executable.first_line("node", "--version").delete_prefix("v"))

    def self.gem = Gem::Specification.find_all_by_name("actioncable").max_by(&:version)

    # Opens `count` sockets, yields them, and closes them.
    def self.open(port, count)
      sockets = new(port, count)
      yield sockets
    ensure
      sockets&.close
    end

    def initialize(port, count)
      flags = self.class.version < UNFLAGGED ? [FLAG, "--no-warnings"] : []
      client = File.join(self.class.gem.full_gem_path, CLIENT)
      @pipe = IO.popen(["node", *flags, PROGRAM, client, "ws://127.0.0.1:#{port}/cable", count.to_s], "r+",
                       rlimit_nofile: Server.descriptors)
    end

    # subscribed: how many are; disconnects: how many connections have ended; heard: how many have heard the last text.
    def state = ask("state")

    # Has the first socket tell all a text.
    def tell(text) = ask("tell #{text}")

    def close = @pipe.close

    private

    def ask(line)
      @pipe.puts(line)
      JSON.parse(@pipe.gets || raise(Failure, "node has ended"), symbolize_names: true)
    end
  end
end
