# frozen_string_literal: true

THREE_MEGABYTES = ["x" * (3 << 20)].freeze
HELLO = ["Hello, World!"].freeze

run(lambda do |env|
  [200, { "content-type" => "text/plain" }, env["PATH_INFO"] == "/3m" ? THREE_MEGABYTES : HELLO]
end)
