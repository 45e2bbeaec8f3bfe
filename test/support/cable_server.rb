# frozen_string_literal: true

require "json"
require "carat/cli/control/control_client"
require_relative "controlled_server"
require_relative "web_socket_client"

module Support
  # A Rails application whose sockets the edge has (option `cable`), and clients of its channels.
  module CableServer
    include ControlledServer

    APP = <<~'RUBY'
      require "logger"
      require "action_controller/railtie"
      require "active_job/railtie"
      require "action_cable/engine"
      require "active_record/railtie" if ENV["DATABASE_URL"]

      class Shop < Rails::Application
        config.load_defaults Rails::VERSION::STRING.to_f
        config.eager_load = true
        config.hosts = nil
        config.secret_key_base = "secret" * 10
        config.logger = Logger.new($stdout)
        config.log_level = :error
        config.active_job.queue_adapter = :async
        config.action_cable.allowed_request_origins = ["http://shop.test"]
        routes.append do
          mount ActionCable.server => "/sockets"
          get "/pid", to: "notices#pid"
          post "/notices", to: "notices#create"
          delete "/clients/:name", to: "notices#disconnect"
        end
      end

      module ApplicationCable
        class Connection < ActionCable::Connection::Base
          identified_by :name

          def connect
            self.name = request.params[:name] || reject_unauthorized_connection
          end

          def disconnect = ActionCable.server.broadcast("doors", { "text" => "#{name} is gone" })
        end
      end

      class RoomChannel < ActionCable::Channel::Base
        def subscribed
          reject if params[:closed]
          @said = []
          stream_from "room"
        end

        def unsubscribed = ActionCable.server.broadcast("room", { "text" => "#{name} left after #{@said.size}" })

        def say(data)
          @said << data["text"]
          ActionCable.server.broadcast("room", { "text" => "#{name}: #{@said.join(" ")}", "pid" => Process.pid })
        end

        # One system call at the end of a file says that it has begun.
        def tell(data)
          File.write("told", "#{data["text"]}\n", mode: "a")
          ActionCable.server.broadcast("room", { "text" => data["text"] })
        end

        def say_later(data)
          File.write("arrived", Process.pid.to_s)
          sleep 0.01 until File.exist?("open")
          say(data)
        end

        def fail = raise("no such action")
      end

      # Counts for its client.
      class ClockChannel < ActionCable::Channel::Base
        periodically(every: 0.1) { transmit({ "text" => "tick", "number" => @ticks += 1, "pid" => Process.pid }) }

        def subscribed = @ticks = 0
        def say(data) = transmit({ "text" => data["text"] })
      end

      class DoorsChannel < ActionCable::Channel::Base
        def subscribed = stream_from("doors")
      end

      class NoticeJob < ActiveJob::Base
        def perform(text) = ActionCable.server.broadcast("room", { "text" => "job: #{text}" })
      end

      class NoticesController < ActionController::API
        def pid = render(plain: Process.pid.to_s)

        def create
          text = params[:text]
          params[:job] ? NoticeJob.perform_later(text) : ActionCable.server.broadcast("room", { "text" => text })
          head :no_content
        end

        def disconnect
          ActionCable.server.remote_connections.where(name: params[:name]).disconnect
          head :no_content
        end
      end

      Shop.initialize!
      run Rails.application
    RUBY
    ORIGIN = { "Origin" => "http://shop.test", "Sec-WebSocket-Protocol" => "actioncable-v1-json" }.freeze
    ROOM = JSON.generate("channel" => "RoomChannel")

    private

    def rails(**options)
      serve(APP, **settings(**options))
    end

    def settings(adapter: "carat", files: {}, **options)
      { files: { "config/cable.yml" => "production:\n  adapter: #{adapter}\n", **files },
        env: { "RAILS_ENV" => "production" }, args: ["--cable", "/cable", *CONTROL_SOCKET], **options }
    end

    def socket(server, name, **fields)
      target = name ? "/cable?name=#{name}" : "/cable"
      Support::WebSocketClient.new(server.connect, target, ORIGIN.merge(fields))
    end

    def welcome(server, name)
      client = socket(server, name)
      assert_predicate client, :accepted?, client.response.inspect
      assert_equal "actioncable-v1-json", client.response["sec-websocket-protocol"]
      assert_equal "welcome", reply(client)["type"]
      client
    end

    def subscriber(server, name, channel: ROOM)
      client = welcome(server, name)
      client.json("command" => "subscribe", "identifier" => channel)
      assert_equal({ "identifier" => channel, "type" => "confirm_subscription" }, reply(client))
      client
    end

    def perform(client, action, **data)
      client.json("command" => "message", "identifier" => ROOM, "data" => JSON.generate({ "action" => action, **data }))
    end

    def say(client, text)
      perform(client, "say", text:)
    end

    # The next message that is no ping. Pings come every three seconds.
    def reply(client)
      pings = 0
      client.read_json { |message| message["type"] != "ping" || (pings += 1) > 20 }
    end

    def heard(client)
      reply(client).dig("message", "text")
    end

    def control(server)
      Carat.const_get(:CLI)::ControlClient.new(File.join(server.directory.path, "carat.sock"))
    end

    def broadcast(server, message)
      control(server).post("/broadcast", JSON.generate("stream" => "room", "message" => message))
    end

    def status(server)
      JSON.parse(control(server).get("/status"))
    end

    def stats(server)
      status(server).fetch("cable")
    end
  end
end
