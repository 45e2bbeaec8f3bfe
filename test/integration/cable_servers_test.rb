# frozen_string_literal: true

require "open3"
require "test_helper"
require "yaml"

# Several servers with the option `cable`, which a broker connects.
class CableServersTest < Support::IntegrationTest
  include Support::CableServer
  needs Support::CableApp.obstacle

  RELAY = 'process("cable", overlap: true) { Carat::Cable.relay }'
  # Action Cable without Rails, in no server's process. Its arguments are those of the adapter, as JSON.
  PROGRAM = <<~'RUBY'
    require "active_record"
    require "action_cable"
    require "active_support/all"
    require "carat"
    require "json"
    require "logger"
    ActiveRecord::Base.establish_connection(ENV["DATABASE_URL"]) if ENV["DATABASE_URL"]
    config = ActionCable.server.config
    config.logger = Logger.new($stderr, level: :error)
    config.cable = JSON.parse(ARGV.fetch(0)).with_indifferent_access
    ActionCable.server.broadcast("room", { "text" => "program" })
  RUBY

  # What Solid Cable's generator writes.
  TABLE = <<~RUBY
    ActiveRecord::Base.connection.create_table(:solid_cable_messages, if_not_exists: true) do |t|
      t.binary :channel, limit: 1024, null: false
      t.binary :payload, limit: 536_870_912, null: false
      t.datetime :created_at, null: false
      t.integer :channel_hash, limit: 8, null: false
    end
  RUBY

  # A client that writes down what it hears, but for probes.
  class Member
    attr_reader :texts, :probes

    def initialize(socket)
      @texts = []
      @probes = []
      Thread.new { listen(socket) }
    end

    private

    def listen(socket)
      while (text = socket.read_text)
        message = JSON.parse(text)["message"]
        next unless message.is_a?(Hash)

        (message["text"].start_with?("probe") ? @probes : @texts) << message["text"]
      end
    rescue IOError, SystemCallError
      nil # The server has ended.
    end
  end

  def teardown
    super
    @broker&.destroy
  end

  def test_redis_connects_servers
    @broker = Support::RedisServer.new.start
    @cable = { "through" => "redis", "url" => "unix://#{@broker.path}", "channel_prefix" => "shop" }
    prove
    assert_a_program_is_heard
    assert_the_broker_comes_back(:KILL)
    assert_a_broker_that_stood_still_comes_back
  end

  def test_postgresql_connects_servers
    @broker = Support::Postgres.new.start
    @cable = { "through" => "postgresql", "channel_prefix" => "shop" }
    @env = { "DATABASE_URL" => @broker.url }
    @app = "require \"active_record/railtie\"\n#{APP}"
    prove
    assert_a_program_is_heard
    assert_too_long_a_notification_is_refused
    assert_the_broker_comes_back(:INT)
  end

  def test_a_table_connects_servers
    skip "Solid Cable is not installed" if Gem::Specification.find_all_by_name("solid_cable").empty?

    Dir.mktmpdir do |directory|
      @cable = { "through" => "solid_cable" }
      @env = { "DATABASE_URL" => "sqlite3:#{directory}/cable.sqlite3?timeout=20000" }
      @app = APP.sub("class Shop", "require \"active_record/railtie\"\nrequire \"solid_cable\"\n\\0")
                .sub("Shop.initialize!", "\\0\n#{TABLE}")
      prove
    end
  end

  private

  def prove
    connect
    assert_each_hears_all
    assert_a_command_is_heard("grüße")
    assert_the_control_socket_is_heard
    assert_a_restart_loses_nothing
    assert_a_server_comes_back
  end

  def connect
    @pair = Array.new(2) { start }
    @clients = @pair.map { |server| subscriber(server, "ann") }
    @members = @clients.map { |client| Member.new(client) }
    await_relays
  end

  def start
    yaml = YAML.dump("production" => { "adapter" => "carat", **@cable })
    # One connection to the broker each: after its return, a further one would fail once more.
    options = settings(workers: 1, threads: 1, config: RELAY, files: { "config/cable.yml" => yaml })
    serve(@app || APP, **options, env: { **options.fetch(:env), **@env.to_h })
  end

  # Broadcasts on each server until all have heard a broadcast of it.
  def await_relays
    @pair.each do |server|
      label = "probe-#{@probe = @probe.to_i + 1}"
      eventually do
        post(server, label)
        @members.all? { |member| member.probes.include?(label) }
      end
    end
  end

  def post(server, text)
    server.request("POST", "/notices?text=#{text}").status
  end

  # All members hear this next, and nothing else.
  def assert_heard(texts)
    eventually(message: "the last of #{texts.size} broadcasts") do
      @members.all? { |member| member.texts.include?(texts.last) }
    end
    post(@pair.first, "end")
    eventually { @members.all? { |member| member.texts.last == "end" } }
    @members.each { |member| assert_equal [*texts, "end"], member.texts.slice!(0..) }
  end

  def assert_each_hears_all
    texts = Array.new(100) { |number| "n#{number}" }
    texts.each_with_index { |text, number| assert_equal 204, post(@pair[number % 2], text) }
    assert_heard(texts)
  end

  # `said` is all that the client has said so far, which its channel keeps.
  def assert_a_command_is_heard(said)
    say(@clients.last, "grüße")
    assert_heard(["ann: #{said}"])
  end

  def assert_the_control_socket_is_heard
    stream = [*@cable["channel_prefix"], "room"].join(":")
    order = JSON.generate("stream" => stream, "message" => { "text" => "outside" })

    assert_equal '{"subscriptions":null}', control(@pair.last).post("/broadcast", order)
    assert_heard(["outside"])
  end

  def assert_a_program_is_heard
    flags = $LOAD_PATH.flat_map { |path| ["-I", path] }
    cable = { "adapter" => "carat", **@cable }
    out, = Open3.capture2e({ **ENV, **@env.to_h }, RbConfig.ruby, "-W0", *flags, "-e", PROGRAM, JSON.generate(cable))

    assert_empty out
    assert_heard(["program"])
  end

  def assert_too_long_a_notification_is_refused
    fields = { "Content-Type" => "application/x-www-form-urlencoded" }
    send = ->(bytes) { @pair.first.request("POST", "/notices", fields:, body: "text=#{"x" * bytes}").status }

    assert_equal [204, 500], [send.call(7900), send.call(8000)]
    assert_match(/PG::InvalidParameterValue .*payload string too long/, @pair.first.log)
    assert_heard(["x" * 7900])
  end

  def assert_a_restart_loses_nothing
    texts = []
    is_over = false
    # On a busy machine, SQLite refuses one now and then, and the application says so.
    talk = Thread.new { (0..).each { |n| is_over ? break : said(texts, "t#{n}") } }
    statuses = Array.new(2) { carat(@pair.first, "restart").last }
    relay = -> { @pair.first.children.filter_map { |pid| Support::ProcessTree.title(pid)[/\Acarat: cable .*/] } }
    eventually(message: "the end of the old relay") { relay.call.size == 1 && relay.call.first.end_with?("gen=3") }
    is_over = true
    talk.join
    assert_equal [0, 0], statuses
    assert_heard(texts)
  end

  def said(texts, text)
    texts << text if post(@pair.last, text) == 204
  end

  def assert_a_server_comes_back
    @pair.shift.stop
    assert_equal 204, post(@pair.first, "alone")
    eventually { @members.last.texts.last == "alone" }
    @members.last.texts.clear # That ann has left is among them.
    @pair.unshift(start)
    @clients[0] = subscriber(@pair.first, "ann")
    @members[0] = Member.new(@clients[0])
    await_relays
    assert_each_hears_all
  end

  # The processes that start meanwhile connect late.
  def assert_a_broker_that_stood_still_comes_back
    deaths = ->(server) { server.log.scan("process died process=cable").size }
    before = @pair.map(&deaths)
    Process.kill(:STOP, @broker.pid)
    eventually { @pair.each_with_index.all? { |server, number| deaths.call(server) > before[number] } }
    Process.kill(:CONT, @broker.pid)
    await_relays
    assert_each_hears_all
  end

  def assert_the_broker_comes_back(signal)
    @broker.stop(signal)
    refute_equal 204, post(@pair.first, "lost")
    @broker.start
    await_relays
    assert_each_hears_all
    assert_a_command_is_heard("grüße grüße")
  end
end
