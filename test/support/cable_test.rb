# frozen_string_literal: true

require_relative "integration_test"
require_relative "web_socket_client"

module Support
  # A test of ActionCable as Rails has it: rack.hijack, and an event loop on nio4r.
  class CableTest < IntegrationTest
    APP = <<~'RUBY'
      require "logger"
      require "action_controller/railtie"
      require "action_cable/engine"
      require "active_record/railtie" if ENV["DATABASE_URL"]

      class Shop < Rails::Application
        config.load_defaults Rails::VERSION::STRING.to_f
        config.eager_load = true
        config.hosts = nil
        config.secret_key_base = "secret" * 10
        config.logger = Logger.new($stdout)
        config.log_level = :error
        config.action_cable.allowed_request_origins = ["http://shop.test"]
        routes.append { get "/pid", to: "pids#show" }
      end

      class PidsController < ActionController::Base
        def show = render(plain: Process.pid.to_s)
      end

      module ApplicationCable
        class Connection < ActionCable::Connection::Base
          identified_by :name

          def connect
            self.name = request.params[:name] || reject_unauthorized_connection
          end
        end
      end

      class RoomChannel < ActionCable::Channel::Base
        def subscribed = stream_from("room")
        def unsubscribed = ActionCable.server.broadcast("room", { "text" => "#{name} left" })
        def say(data) = ActionCable.server.broadcast("room", { "text" => "#{name}: #{data["text"]}" })
      end

      Shop.initialize!
      run Rails.application
    RUBY
    ORIGIN = { "Origin" => "http://shop.test" }.freeze
    ROOM = JSON.generate("channel" => "RoomChannel")

    private

    # @param adapter [String] of ActionCable
    # @param url [String, nil] of the adapter's server
    def rails(adapter:, url: nil, env: {}, **options)
      cable = "production:\n  adapter: #{adapter}\n#{"  url: #{url}\n" if url}"
      serve(APP, files: { "config/cable.yml" => cable }, env: { "RAILS_ENV" => "production", **env }, **options)
    end

    def subscriber(server, name)
      socket = Support::WebSocketClient.new(server.connect, "/cable?name=#{name}", ORIGIN)
      assert_predicate socket, :accepted?, socket.response.inspect
      socket.read_json { |message| message["type"] == "welcome" }
      socket.json("command" => "subscribe", "identifier" => ROOM)
      socket.read_json { |message| message["type"] == "confirm_subscription" }
      socket
    end

    def say(socket, text)
      data = JSON.generate("action" => "say", "text" => text)
      socket.json("command" => "message", "identifier" => ROOM, "data" => data)
    end

    # A ping has a message, too.
    def heard(socket)
      socket.read_json { |message| message["message"].is_a?(Hash) }.dig("message", "text")
    end
  end
end
