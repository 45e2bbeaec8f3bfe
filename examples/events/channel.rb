# frozen_string_literal: true

require "json"

# Messages for everybody who listens.
class Channel
  # Messages that are kept for clients that reconnect.
  KEPT = 100

  def initialize
    @last_id = 0
    @events = []
    @streams = {}.compare_by_identity
  end

  # Sends the text to each stream.
  def publish(text)
    @last_id += 1
    event = [@last_id, "id: #{@last_id}\nevent: message\ndata: #{JSON.generate(text: text, at: Time.now.to_i)}\n\n"]
    @events << event
    @events.shift if @events.size > KEPT
    @streams.each_key { |stream| stream.push(event.last) }
  end

  # Adds a stream, and sends it the messages after the one with this id.
  def join(stream, last_id)
    @events.each { |id, event| stream.push(event) if id > last_id }
    @streams[stream] = true
  end

  # Removes a stream.
  def leave(stream)
    @streams.delete(stream)
  end
end
