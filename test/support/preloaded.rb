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
