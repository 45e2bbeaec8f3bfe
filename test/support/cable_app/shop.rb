# frozen_string_literal: true

require "rails"
require "action_controller/railtie"
require "action_cable/engine"
require "global_id"

# The application of Support::CableApp.
class CableShop < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.eager_load = false
  config.hosts = nil
  config.root = __dir__
  config.secret_key_base = "secret" * 10
  config.logger = Logger.new(Support::CableApp::LOG)
  config.action_cable.allowed_request_origins = [Support::CableApp::ORIGIN]
  config.action_cable.cable = { "adapter" => "carat" }.with_indifferent_access
  config.action_cable.log_tags = [:cable, ->(request) { request.params[:name].to_s }]
  config.action_dispatch.show_exceptions = Rails::VERSION::STRING < "7.1" ? false : :none
end

CableShop.initialize!
GlobalID.app = "shop"

# A record without a database.
class Person
  include GlobalID::Identification
  attr_reader :id
  attr_accessor :changed

  alias_method :changed?, :changed

  def self.find(id)
    raise KeyError, "no person #{id}" if id == "gone"

    new(id)
  end

  def initialize(id)
    @id = id
  end

  def ==(other)
    other.is_a?(Person) && other.id == id
  end
end

class CurrentPerson < ActiveSupport::CurrentAttributes
  # What is called when the command is over.
  cattr_accessor :outlives
  attribute :person
end

module ApplicationCable
  class Connection < ActionCable::Connection::Base
    identified_by :person, :locale

    attr_accessor :visits

    rescue_from(ArgumentError) { |error| transmit({ "rescued" => error.message }) }

    def connect
      return reject_unauthorized_connection unless request.params[:name]

      self.person = Person.find(request.params[:name])
      self.locale = :de
      @visits = 0
      @odd = $stdout if request.params[:odd]
      transmit({ "hello" => person.id }) if request.params[:hello]
      logger.add_tags(person.id)
    end

    def disconnect
      ActionCable.server.broadcast("doors", "#{person.id} left")
    end
  end
end

class TestChannel < ActionCable::Channel::Base
end

# What most channels do.
class RoomChannel < TestChannel
  before_subscribe { @order = ["before"] }
  after_subscribe { @order << "after" }

  def subscribed
    reject if params[:closed]
    stream_from "room"
    stream_for person
    @count = 0
  end

  def unsubscribed
    ActionCable.server.broadcast("room", "#{person.id} left after #{@count}")
  end

  def say(data)
    @count += 1
    ActionCable.server.broadcast("room", { "text" => data["text"], "count" => @count, "locale" => locale })
    transmit({ "count" => @count })
  end

  def order
    transmit(@order)
  end

  def visit
    connection.visits += 1
    transmit(connection.visits)
  end

  def move
    stop_stream_from "room"
    stream_from "hall"
  end

  def silence
    stop_all_streams
    stream_from "late"
  end

  def leave
    connection.subscriptions.remove_subscription(self)
  end

  def quit
    transmit("bye")
    connection.close(reason: "enough", reconnect: false)
  end

  def remember
    @file = $stdout
  end

  def cookie
    connection.send(:cookies)
  end

  def agent
    connection.env["HTTP_USER_AGENT"]
  end

  def later
    Thread.new { broadcast_to(person, "from a thread") }.join
    CurrentPerson.outlives = method(:transmit)
  end

  def fail_now
    broadcast_to(person, "before")
    raise "failed on purpose"
  end

  def rescued
    raise ArgumentError, "wrong"
  end

  def current
    transmit(CurrentPerson.person)
    CurrentPerson.person = person.id
  end
end

class WaitingChannel < TestChannel
  def subscribed
    defer_subscription_confirmation!
  end

  def confirm
    ensure_confirmation_sent
  end
end

class BrokenChannel < TestChannel
  def subscribed
    stream_from "broken"
    raise "no such room"
  end
end

class RescuingChannel < TestChannel
  rescue_from(RuntimeError) { transmit("sorry") }

  def ask
    raise "no answer"
  end
end

# A channel with timers.
class TimedChannel < TestChannel
  periodically :tick, every: 5.seconds
  periodically(every: 0.25) { ActionCable.server.broadcast("doors", [person.id, CurrentPerson.person]) }
  periodically(-> { raise ArgumentError, "no time" }, every: 1)

  def subscribed
    reject if params[:closed]
  end

  def tick
    @ticks = @ticks.to_i + 1
    CurrentPerson.person = "somebody"
    transmit(@ticks)
  end

  def stop
    stop_periodic_timers
  end

  def start
    start_periodic_timer(-> {}, every: 1)
  end
end
