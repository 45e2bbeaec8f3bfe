# frozen_string_literal: true

require "json"
require "logger"
require "rack"
require "stringio"

module Support
  # A Rails application with channels, in this process, prepared as a mold with the option `cable` prepares it, and what
  # the edge would ask of it.
  module CableApp
    ORIGIN = "http://shop.test"
    LOG = StringIO.new

    # Why it cannot run here, or nil.
    def self.obstacle
      require "action_cable/version"
      version = ActionCable.version
      "Action Cable #{version} is older than 7.0" if version < Gem::Version.new("7.0")
    rescue LoadError
      "Action Cable is not installed"
    end

    # The Rack application.
    def self.instance
      @instance ||= begin
        require_relative "cable_app/shop"
        require "carat"
        Carat::Cable.install(Rails.application, "/cable")
      end
    end

    def setup
      LOG.truncate(0)
      LOG.rewind
      @control = Control.new([], true)
      CableApp.instance
      join(@control)
    end

    # In the place of Carat::Native::Control.
    Control = Struct.new(:broadcasts, :takes) do
      def broadcast(stream, payload)
        broadcasts << [stream, payload]
        takes
      end
    end

    private

    # `path` is that of the server's control socket.
    def join(control, path: nil)
      Carat::Cable.join(control, { cable: "/cable", control_socket: path })
    end

    # Returns the response to a handshake.
    def handshake(target = "/cable?name=ann", **fields)
      fields = { "HTTP_CONNECTION" => "Upgrade", "HTTP_UPGRADE" => "websocket", "HTTP_SEC_WEBSOCKET_VERSION" => "13",
                 "HTTP_SEC_WEBSOCKET_KEY" => "c2l4dGVlbiBieXRlcyBrZQ==", "HTTP_ORIGIN" => ORIGIN,
                 "HTTP_SEC_WEBSOCKET_PROTOCOL" => "actioncable-v1-json, actioncable-unsupported", "carat.part" => true,
                 "HTTP_HOST" => "shop.test", **fields.transform_keys(&:to_s) }
      Rack::MockRequest.new(CableApp.instance).get(target, fields)
    end

    # Opens a socket and returns its result.
    def open(target = "/cable?name=ann", **fields)
      response = handshake(target, **fields)
      assert_equal 200, response.status, log
      assert_equal "application/vnd.carat.cable+json", response["content-type"]
      JSON.parse(response.body)
    end

    # Opens a socket, and returns its record.
    def connected(name = "ann")
      open("/cable?name=#{name}").fetch("connection")
    end

    # Returns the response to a command.
    def post(order)
      Rack::MockRequest.new(CableApp.instance).post("/cable", "carat.part" => true, :input => JSON.generate(order))
    end

    # Returns the result of a command.
    def command(order)
      response = post(order)
      assert_equal 200, response.status, log
      JSON.parse(response.body)
    end

    def subscribe(channel, record = connected, **params)
      command("command" => "subscribe", "connection" => record, "identifier" => identifier(channel, **params))
    end

    # What the subscription of `channel` with `state` does with `data`.
    def perform(channel, action, record: connected, state: nil, params: {}, **data)
      command(order(channel, action, record:, state:, params:, **data))
    end

    def order(channel, action, record: connected, state: nil, params: {}, **data)
      { "command" => "message", "connection" => record, "identifier" => identifier(channel, **params),
        "data" => JSON.generate({ "action" => action, **data }), "state" => state }
    end

    def identifier(channel, **params)
      JSON.generate({ "channel" => channel, **params })
    end

    # The texts that a result sends, as objects.
    def sent(result)
      result.fetch("send", []).map { |text| JSON.parse(text) }
    end

    def log
      LOG.string
    end
  end
end
