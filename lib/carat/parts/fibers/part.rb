# frozen_string_literal: true

require_relative "../../part"

module Carat
  module Parts
    # Workers that run each request in a fiber of one thread.
    class Fibers < Part
      option :fibers, key: :slots, group: "Processes", type: :integer, within: 1..30_000, short: "-f", edge: true,
                      restart: true, mold: true,
                      doc: "Requests that a worker runs at once, each in a fiber of one thread; replaces `threads`."
      option :stall_warning, group: "Processes", type: :seconds, default: 0.5,
                             doc: "With `fibers`: how long a request may block the others before the log names it."
    end
  end
end
