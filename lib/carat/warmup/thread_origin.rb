# frozen_string_literal: true

module Carat
  module Warmup
    # The origin of a thread: its place in the code, and the gem that started it.
    class ThreadOrigin
      # The path in Thread#inspect: `#<Thread:0x000 /path/file.rb:12 sleep>`, perhaps with a name before the path.
      START = / (\S+):\d+ \w+>\z/
      GEM = %r{/gems/([^/]+-\d[^/]*)/}
      # The file of New Relic that wraps the block of each thread in a block of its own.
      WRAPPER = %r{/new_relic/agent/tracer\.rb\z}
      FRAME = /\A(.*?):\d+:/
      private_constant :FRAME, :GEM, :START, :WRAPPER

      def initialize(thread)
        @thread = thread
      end

      # Returns a text such as `#<Thread:0x000 /path/pool.rb:12 sleep> at /path/pool.rb:15 (gem pool-1.0)`.
      def to_s
        text = [@thread.inspect, @thread.backtrace&.first].compact.join(" at ")
        gem ? "#{text} (gem #{gem})" : text
      end

      # Returns the name and version of the gem whose code started the thread, or nil.
      def gem
        path && (path[GEM, 1] || loaded_gem(path))
      end

      # Returns the path of the file whose code started the thread, or nil.
      def path
        @path ||= @thread.inspect.b[START, 1].then { |path| WRAPPER.match?(path.to_s) ? wrapped || path : path }
      end

      private

      # The path of the wrapped block, which is in the next frame.
      def wrapped
        paths = (@thread.backtrace || []).filter_map { |frame| frame.b[FRAME, 1] }
        paths.reverse.find { |path| !WRAPPER.match?(path) }
      end

      # The gem whose directory has the file, for a gem that Bundler takes from a directory or that a Linux distribution
      # has packed.
      def loaded_gem(file)
        specification = ::Gem.loaded_specs.values.find { |spec| file.start_with?("#{spec.full_gem_path}/".b) }
        specification&.full_name
      end
    end
  end
end
