# frozen_string_literal: true

require "test_helper"

# Server-sent events: they arrive at once, and the application notices that a client has left.
class EventStreamTest < Support::IntegrationTest
  # /each and /call send an event for each line of the file `events`; what ends their writers is in the file `ended`.
  APP = <<~'RUBY'
    class Body
      def initialize(name, endless)
        @name = name
        @endless = endless
      end

      def close = note("closed #{@name}")

      private

      def write
        sent = 0
        loop do
          lines = File.exist?("events") ? File.readlines("events", chomp: true) : []
          lines.drop(sent).each { |line| yield "data: #{line}\n\n" }
          sent = lines.size
          yield ": tick\n\n" if @endless
          sleep 0.01
        end
      rescue SystemCallError => e
        note("#{e.class.superclass} in #{@name}")
        raise
      end

      def note(line) = File.write("ended", "#{line}\n", mode: "a")
    end

    class EachBody < Body
      def each(&) = write(&)
    end

    class CallBody < Body
      def call(stream) = write { |event| stream.write(event) }
    end

    run(lambda do |env|
      name, endless = env["PATH_INFO"].delete_prefix("/").split("/")
      body = { "each" => EachBody, "call" => CallBody }[name]&.new(name, endless)
      body ? [200, { "content-type" => "text/event-stream" }, body] : [200, {}, ["other"]]
    end)
  RUBY
  BODIES = %w[each call].freeze

  def test_events_arrive_while_the_application_goes_on
    each_server do |server|
      clients = BODIES.map { |name| ask(server, "GET", "/#{name}", fields: { "Accept-Encoding" => "gzip" }) }
      %w[first second].each do |event|
        server.directory.write("events", "first\n#{"second\n" if event == "second"}")
        clients.each { |client| client.read_through("data: #{event}\n\n") }
      end
    end
  end

  %i[close reset].each do |leave|
    define_method("test_a_writer_sees_that_its_client_has_left_with_a_#{leave}") do
      each_server do |server|
        BODIES.each do |name|
          client = ask(server, "GET", "/#{name}/endless")
          client.read_through(": tick\n\n")
          client.public_send(leave)
        end
        ends = BODIES.flat_map { |name| ["Errno::EPIPE in #{name}", "closed #{name}"] }

        eventually(message: "the ends of the writers") { ended(server).sort == ends.sort }
        assert_equal "other", server.get("/other").body
      end
    end
  end

  def test_many_streams_wait_in_the_fibers_of_one_thread
    server = serve(APP, workers: 1, fibers: 600)
    clients = Array.new(500) { ask(server, "GET", "/each") }
    eventually { server.get("/other").body == "other" }
    server.directory.write("events", "all\n")

    clients.each { |client| client.read_through("data: all\n\n") }
  end

  private

  # A server with threads, and one with fibers.
  def each_server
    [{ threads: 4 }, { fibers: 8 }].each { |options| yield serve(APP, workers: 1, **options) }
  end

  def ended(server)
    path = File.join(server.directory.path, "ended")
    File.exist?(path) ? File.readlines(path, chomp: true) : []
  end
end
