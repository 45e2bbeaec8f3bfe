# frozen_string_literal: true

# 100 MB: one String, yielded 1600 times.
class Big
  PIECE = ("x" * 65_536).freeze
  PIECES = 1600

  def each
    PIECES.times { yield PIECE }
  end
end

HELLO = ["Hello, World!"].freeze

run(lambda do |env|
  [200, { "content-type" => "text/plain" }, env["PATH_INFO"] == "/big" ? Big.new : HELLO]
end)
