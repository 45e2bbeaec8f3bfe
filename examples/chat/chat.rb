# frozen_string_literal: true

require "logger"
require "action_controller/railtie"
require "action_cable/engine"
require "turbo-rails"

# A chat with Turbo Streams: a page that writes to a room, and hears what others write there.
class Chat < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.root = __dir__
  config.eager_load = true
  config.hosts = nil
  config.secret_key_base = ENV.fetch("SECRET_KEY_BASE", "not a secret" * 6)
  config.logger = Logger.new($stdout)
  config.log_level = :warn
  # The page and its socket come from one server.
  config.action_cable.allow_same_origin_as_host = true

  turbo = File.join(Turbo::Engine.root, "app/assets/javascripts")
  config.middleware.use Rack::Static, urls: ["/turbo.min.js"], root: turbo

  routes.append do
    root to: "messages#index"
    resources :messages, only: :create
  end
end

module ApplicationCable
  class Connection < ActionCable::Connection::Base
  end
end

# Tells each reader how long it has been here. The edge has the timer, and keeps the variable.
class ClockChannel < ActionCable::Channel::Base
  periodically :tell, every: 1

  def subscribed = @since = Time.now
  def tell = transmit({ "seconds" => (Time.now - @since).round })
end

class MessagesController < ActionController::Base
  def index = render

  # All readers hear it, also those of other workers. The edge sends it to them.
  def create
    text = params.require(:text).first(1000)
    Turbo::StreamsChannel.broadcast_append_to("room", target: "messages", html: helpers.tag.li(text))
    head :no_content
  end
end

Chat.initialize!
