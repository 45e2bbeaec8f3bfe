# frozen_string_literal: true

module Bench
  # What is asked for under load: a rackup file, a path in it, and the size of its body; environment: a callable that
  # gives the variables which the application needs, or nil.
  Page = Struct.new(:app, :path, :bytes, :environment, keyword_init: true) do
    # The server with the application's variables.
    def on(peer)
      environment ? peer.with(environment.call) : peer
    end
  end
end
