# frozen_string_literal: true

# A Rack body: waits for events, and ends when the client is gone.
class EventStream
  # A comment: without it, a client that has left would be noticed only at the next event.
  KEEP_ALIVE = ": keep-alive\n\n"
  KEEP_ALIVE_SECONDS = 15
  # A client that is so far behind is disconnected, and may come back.
  WAITING_LIMIT = 1000

  # `last_id` is the id of the last event that the client has seen.
  def initialize(channel, last_id)
    @channel = channel
    @waiting = []
    @lock = Mutex.new
    @arrived = ConditionVariable.new
    channel.join(self, last_id)
  end

  # Sends an event to the client, soon. Any thread and any fiber may call it.
  def push(event)
    @lock.synchronize do
      @waiting << event
      @arrived.signal
    end
  end

  # Yields each event. Ends when the client has fallen behind.
  def each
    yield "retry: 1000\n\n"
    while (events = take)
      yield events
    end
  end

  # Carat calls it when the client is gone, too.
  def close
    @channel.leave(self)
  end

  private

  def take
    @lock.synchronize do
      @arrived.wait(@lock, KEEP_ALIVE_SECONDS) if @waiting.empty?
      next if @waiting.size > WAITING_LIMIT
      next KEEP_ALIVE if @waiting.empty?

      @waiting.join.tap { @waiting.clear }
    end
  end
end
