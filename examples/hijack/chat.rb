# frozen_string_literal: true

require "websocket/driver"
require_relative "member"
require_relative "room"

# A chat: a page, and a WebSocket for each reader of it.
class Chat
  # `page` is the page, a String.
  def initialize(page:)
    @page = page
    @room = Room.new
  end

  def call(env)
    return [200, { "content-type" => "text/html; charset=utf-8" }, [@page]] unless WebSocket::Driver.websocket?(env)
    return [503, { "content-type" => "text/plain" }, ["This server has no rack.hijack\n"]] unless env["rack.hijack?"]

    @room.join(Member.new(env))
    [-1, {}, []] # the response goes through the socket
  end
end
