# frozen_string_literal: true

# The last lines of a log, in memory.
class ConnectionLog
  LINES_LIMIT = 100

  def initialize
    @lines = []
  end

  def add(line)
    @lines << line
    @lines.shift if @lines.size > LINES_LIMIT
  end
end
