# frozen_string_literal: true

require "open3"
require "rbconfig"
require "carat/native_path"

module Support
  # Ruby programs in a new process, with the allocator that Carat preloads.
  module Preloaded
    LIBRARIES = %w[lib lab/lib].map { |path| "-I#{File.expand_path("../../#{path}", __dir__)}" }.freeze
    PRELUDE = <<~RUBY
      require "fiddle"
      require "carat/native"

      # C's function of this name.
      def c(name, *types, result: Fiddle::TYPE_VOIDP)
        Fiddle::Function.new(Fiddle::Handle::DEFAULT[name], types, result)
      end
      SIZE = Fiddle::TYPE_SIZE_T
      POINTER = Fiddle::TYPE_VOIDP
      INT = Fiddle::TYPE_INT

      # A number of `length` bytes that jemalloc tells, perhaps about an address.
      def jemalloc(name, length, address = nil)
        value, size, about = Array.new(3) { Fiddle::Pointer.malloc(8, Fiddle::RUBY_FREE) }
        value[0, 8], size[0, 8], about[0, 8] = [0, length, address.to_i].map { |number| [number].pack("q") }
        c("mallctl", POINTER, POINTER, POINTER, POINTER, SIZE, result: INT)
          .call(name, value, size, address && about, address ? 8 : 0)
        value[0, 8].unpack1("q")
      end
    RUBY

    private

    # Returns the program's output; fails unless it exits with status 0. `env` is added to its environment.
    def preloaded(program, env: {}, library: Carat::NativePath.malloc)
      output, status = Open3.capture2e({ "LD_PRELOAD" => library, "MALLOC_CONF" => nil, **env },
                                       RbConfig.ruby, *LIBRARIES, "-e", PRELUDE + program)
      assert status.success?, "#{status.inspect}: #{output}"
      output
    end
  end
end
