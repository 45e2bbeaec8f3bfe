# frozen_string_literal: true

require "rack/request"
require_relative "channel"
require_relative "event_stream"

# A page on which messages appear in every browser at once.
class Board
  TEXT_LIMIT = 280
  EVENTS = { "content-type" => "text/event-stream", "cache-control" => "no-store" }.freeze
  PLAIN = { "content-type" => "text/plain" }.freeze
  # What browsers say about who sends a request; other clients say nothing.
  OWN_SITES = [nil, "same-origin", "none"].freeze

  def initialize
    @channel = Channel.new
  end

  def call(env)
    case env.values_at("REQUEST_METHOD", "PATH_INFO")
    when %w[GET /events] then [200, EVENTS.dup, EventStream.new(@channel, env["HTTP_LAST_EVENT_ID"].to_i)]
    when %w[POST /messages] then publish(env)
    else respond(404, "There is nothing here.\n")
    end
  end

  private

  def publish(env)
    return respond(403, "Messages come from this page.\n") unless OWN_SITES.include?(env["HTTP_SEC_FETCH_SITE"])

    text = Rack::Request.new(env).POST["text"]
    text = text.is_a?(String) ? text.dup.force_encoding(Encoding::UTF_8).scrub.strip : ""
    return respond(422, "A text has 1 to #{TEXT_LIMIT} characters.\n") unless (1..TEXT_LIMIT).cover?(text.size)

    @channel.publish(text)
    [204, {}, []]
  end

  def respond(status, text)
    [status, PLAIN.dup, [text]]
  end
end
