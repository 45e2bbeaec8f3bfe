# frozen_string_literal: true

# With CABLE_ADAPTER=carat, the edge serves the sockets. GET /cable is ActionCable, and each socket listens to one room;
# /publish?TEXT sends one message to all.
require "logger" # Rails 6.1 and 7.0 use it without saying so
require "action_controller/railtie"
require "action_cable/engine"

class Rooms < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.eager_load = true
  config.hosts = nil
  config.secret_key_base = "secret" * 10
  config.logger = Logger.new(nil)
  config.action_cable.cable = { "adapter" => ENV.fetch("CABLE_ADAPTER", "async") }
  config.action_cable.disable_request_forgery_protection = true
  routes.append do
    get "/publish", to: "messages#create"
    root to: "messages#index"
  end
end

class MessagesController < ActionController::Base
  def index = render(plain: "Hello, World!")

  def create
    ActionCable.server.broadcast("room", request.query_string)
    render plain: "sent"
  end
end

module ApplicationCable
  class Connection < ActionCable::Connection::Base
  end
end

class RoomChannel < ActionCable::Channel::Base
  def subscribed = stream_from("room")
end

Rooms.initialize!
run Rails.application
