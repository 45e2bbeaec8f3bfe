# frozen_string_literal: true

# What the server knows about one connection.
class Connection
  attr_reader :number, :path

  def initialize(number, path)
    @number = number
    @path = path
  end

  # What a connection that speaks no protocol says.
  def respond
    "#{number}: #{path}\n"
  end
end
