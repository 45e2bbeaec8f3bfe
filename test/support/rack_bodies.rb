# frozen_string_literal: true

module Support
  # An application with a path for every kind of body. Below /raw/ it runs by itself, elsewhere inside Rack::Lint. Each
  # body leaves a line in the log when it is closed.
  module RackBodies
    APP = <<~'RUBY'
      class Body
        def initialize(name, &each)
          @name = name
          @each = each
        end

        def each(&block)
          @each.call(block)
        end

        def close
          $stderr.puts("closed #{@name}")
        end
      end

      class FileBody < Body
        def to_path
          "large.txt"
        end
      end

      class CallableBody < Body
        undef each

        def call(stream)
          @each.call(stream)
        end
      end

      large = "0123456789abcdef" * 65_536
      File.write("large.txt", large)
      text = { "content-type" => "text/plain" }

      app = lambda do |env|
        name = env["PATH_INFO"].delete_prefix("/raw")
        case name
        when "/array" then [200, text, ["a", "b"]]
        when "/large" then [200, text, [large, large]]
        when "/each" then [200, text, Body.new(name) { |write| %w[one two].each { |piece| write.call(piece) } }]
        when "/empty" then [200, text, Body.new(name) { |_write| nil }]
        when "/known" then [200, text.merge("content-length" => "3"), Body.new(name) { |write| write.call("one") }]
        when "/enumerator" then [200, text, Enumerator.new { |pieces| pieces << "one" << "two" }]
        when "/endless" then [200, text, Body.new(name) { |write| loop { write.call(large) } }]
        when "/broken" then [200, text, Body.new(name) { |write| [write.call("begun"), raise("broken each")] }]
        when "/unbegun" then [200, text, Body.new(name) { |_write| raise "broken each" }]
        when "/file" then [200, text, FileBody.new(name) { |write| write.call(large) }]
        when "/callable" then [200, text, CallableBody.new(name) { |stream| stream << "one" << "two" }]
        when "/raise" then raise "broken application"
        when "/exit" then exit
        when "/split" then [200, text.merge("location" => "a\r\nset-cookie: evil=1"), ["x"]]
        when "/cookies"
          [200, text.merge("set-cookie" => Rack.release >= "3" ? %w[a=1 b=2] : "a=1\nb=2"), ["x"]]
        else [404, text, []]
        end
      end
      lint = Rack::Lint.new(app)
      run ->(env) { (env["PATH_INFO"].start_with?("/raw/") ? app : lint).call(env) }
    RUBY
  end
end
