# frozen_string_literal: true

# GET /events is a stream of events that nothing ends; /publish?TEXT sends one event to each.
STREAMS = [] # rubocop:disable Style/MutableConstant

# A body that waits for its next event.
class EventStream
  def initialize
    @events = Thread::Queue.new
  end

  def push(event) = @events << event

  def each
    yield ": begun\n\n"
    STREAMS << self
    while (event = @events.pop)
      yield event
    end
  end

  def close = STREAMS.delete(self)
end

run(lambda do |env|
  case env["PATH_INFO"]
  when "/events" then [200, { "content-type" => "text/event-stream" }, EventStream.new]
  when "/publish"
    STREAMS.each { |stream| stream.push("data: #{env["QUERY_STRING"]}\n\n") }
    [200, { "content-type" => "text/plain" }, [STREAMS.size.to_s]]
  else [200, { "content-type" => "text/plain" }, ["Hello, World!"]]
  end
end)
