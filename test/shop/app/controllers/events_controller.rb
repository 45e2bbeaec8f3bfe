# frozen_string_literal: true

# Streams whose next event waits for a file that the test writes.
class EventsController < ApplicationController
  include ActionController::Live

  def two
    stream { |events| write(events, "first") && await("go") && write(events, "second") }
  end

  def endless
    stream { |events| loop { write(events, "tick") && sleep(0.01) } }
  end

  def broken
    stream { |events| write(events, "first") && raise("broken while it streams") }
  end

  def early
    raise "broken before it streams"
  end

  def cookie
    cookies[:seen] = session[:seen] = "yes"
    stream { |events| write(events, "first") }
  end

  private

  def stream
    response.headers["Content-Type"] = "text/event-stream"
    response.headers["Last-Modified"] = Time.now.httpdate # else Rack::ETag 2.2 waits for the whole body
    yield SSE.new(response.stream, event: "tick")
  ensure
    response.stream.close
    Rails.root.join("ended").write("#{action_name} #{$!.class}\n", mode: "a") # rubocop:disable Style/SpecialGlobalVars
  end

  def write(events, text)
    events.write(text)
    true
  end

  def await(name)
    sleep 0.01 until Rails.root.join(name).exist?
    true
  end
end
