# frozen_string_literal: true

require_relative "server_options"

module Support
  # The Rails application in test/shop. Each server gets a copy of its own, with databases of its own.
  module Shop
    ROOT = File.join(ServerOptions::ROOT, "test/shop")
    # Contents by relative path.
    FILES = Dir.glob("**/*", base: ROOT).filter_map do |name|
      path = File.join(ROOT, name)
      [name, File.binread(path)] if File.file?(path)
    end.to_h.merge("public/numbers.txt" => (1..2000).map { |number| "#{number}\n" }.join).freeze
  end
end
