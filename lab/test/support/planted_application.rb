# frozen_string_literal: true

require "json"
require "open3"
require "rbconfig"
require_relative "../../../test/support/application_directory"
require_relative "planted_libraries"

module Support
  # An application with a known leak, or none, in a directory of its own, and what `carat leak` says about it.
  module PlantedApplication # rubocop:disable Metrics/ModuleLength -- a table of applications
    include ApplicationDirectory

    LEAK = [*ApplicationDirectory::COMMAND, "leak"].freeze

    # How a line ends at which memory grows.
    PLANTED = /# (leaks|fills|scatters)$/

    # By name, rackup files; REQUESTS is the number of requests of a run. The line at which memory grows is
    # PLANTED.
    RACKUP = {
      clean: "run ->(_env) { [200, {}, [\"hello\"]] }\n",
      object: <<~RUBY,
        KEPT = []
        run(lambda do |_env|
          KEPT << Object.new # leaks
          [200, {}, []]
        end)
      RUBY
      # Other lines, and C, free what lines above have allocated. Each request has a method of its own.
      freed_elsewhere: <<~RUBY,
        require "zlib"
        module Extra; def extra = "x" * 100; end
        KEPT, BUFFER = [], []
        FILL = -> { 512.times { BUFFER << 1 } }
        run(lambda do |_env|
          FILL.call
          BUFFER.replace([])
          Object.new.extend(Extra).extra
          Zlib::Deflate.deflate("x" * 10_000)
          KEPT.push(1, 2, 3, 4, 5, 6, 7, 8) # leaks
          [200, {}, []]
        end)
      RUBY
      # An endless method, a background thread, and a part of the environment, which Carat makes.
      three_places: <<~RUBY,
        KEPT = []
        PATHS = []
        JOBS = Queue.new
        DONE = Queue.new
        def keep(text) = KEPT.push(text * 100)
        def work = Thread.new { loop { JOBS.pop; KEPT << ("job" * 100); DONE << true } } # leaks
        run(lambda do |env|
          @worker ||= work
          JOBS << true
          DONE.pop
          keep("xyz")
          PATHS << env["PATH_INFO"]
          [200, {}, []]
        end)
      RUBY
      descriptor: "run ->(_env) { IO.sysopen(\"/dev/null\"); [200, {}, []] }\n",
      mapping: "require_relative \"leaky\"; run ->(_env) { map_page; [200, {}, []] }\n",
      string: <<~RUBY,
        LOG = +""
        run(lambda do |_env|
          LOG << "0123456789abcdef" # leaks
          [200, {}, []]
        end)
      RUBY
      extension: <<~RUBY,
        require_relative "leaky"
        run(lambda do |_env|
          leak_sixteen_bytes # leaks
          [200, {}, []]
        end)
      RUBY
      singleton: <<~RUBY,
        module Extra; end
        KEPT = []
        run(lambda do |_env|
          object = Object.new
          object.extend(Extra) # leaks
          KEPT << object
          [200, {}, []]
        end)
      RUBY
      symbol: <<~RUBY,
        KEPT = []
        COUNT = [0]
        run(lambda do |_env|
          KEPT << "symbol_\#{COUNT[0] += 1}".to_sym # leaks
          [200, {}, []]
        end)
      RUBY
      memo: <<~RUBY,
        class Page
          @pages = {}
          @count = 0
          def self.find
            key = "key \#{@count += 1}"
            @pages[key] ||= "page of \#{key}" # leaks
          end
        end
        run(lambda do |_env|
          [200, {}, [Page.find]]
        end)
      RUBY
      one_in_ten: <<~RUBY,
        KEPT = []
        run(lambda do |env|
          KEPT << ("x" * 200) if env["PATH_INFO"] == "/7" # leaks
          [200, {}, []]
        end)
      RUBY
      # Each request uses the two entries that are the oldest again.
      cache: <<~RUBY,
        CACHE = {}
        COUNT = [0]
        run(lambda do |_env|
          CACHE.first(2).each { |key, value| CACHE.delete(key) && CACHE[key] = value }
          CACHE[COUNT[0] += 1] = "x" * 200 # fills
          CACHE.shift if CACHE.size > REQUESTS * 3 / 5
          [200, {}, []]
        end)
      RUBY
      # As many bytes are freed as allocated, but one block in each run of pages stays, and the next blocks have a size
      # for which these pages are of no use.
      fragmentation: <<~RUBY,
        require_relative "leaky"
        # The size of a block, and how many of them jemalloc has in one run of pages.
        SIZES = [[112, 256], [80, 256], [48, 256], [160, 128], [96, 128], [224, 128], [32, 128], [192, 64], [320, 64]]
        LIMIT = REQUESTS / 8 * 4096
        COUNT = [0]
        (REQUESTS / 8).times { replace_blocks(*SIZES.first, LIMIT) }
        run(lambda do |_env|
          generation = (COUNT[0] += 1) / (REQUESTS / 8)
          replace_blocks(*SIZES[(generation + 1) % SIZES.size], LIMIT) # scatters
          [200, {}, []]
        end)
      RUBY
      # Each of the Strings grows in steps of its own.
      many_strings: <<~RUBY,
        KEPT = Array.new(100) { +"" }
        COUNT = [0]
        run(lambda do |_env|
          KEPT[(COUNT[0] += 1) % 100] << ("x" * 50) # leaks
          [200, {}, []]
        end)
      RUBY
      integer: <<~RUBY,
        NUMBER = [1]
        run(lambda do |_env|
          NUMBER[0] <<= 640 # leaks
          [200, {}, []]
        end)
      RUBY
      enumerator: <<~RUBY,
        KEPT = []
        run(lambda do |_env|
          KEPT << [1, 2].each.tap(&:next) # leaks
          [200, {}, []]
        end)
      RUBY
      thread: <<~RUBY
        GATE = Queue.new
        run(lambda do |_env|
          Thread.new { GATE.pop } # leaks
          [200, {}, []]
        end)
      RUBY
    }.merge(INNOCENT).freeze

    EXTENSION = File.expand_path("planted_extension.c", __dir__)

    private

    # The parsed report about one of RACKUP.
    def leak(name, *flags, requests:)
      plant(name, requests:)
      out, err, status = run_leak("--json", *flags)
      assert_predicate status, :success?, err
      JSON.parse(out)
    end

    def plant(name, requests:)
      File.write(File.join(@directory, "config.ru"), "REQUESTS = #{requests}; #{RACKUP.fetch(name)}")
      compile_extension if RACKUP.fetch(name).include?("leaky")
    end

    # Standard output, standard error, and the status of the command.
    def run_leak(*words)
      Open3.capture3(*LEAK, *words, chdir: @directory)
    end

    def compile_extension
      config = RbConfig::CONFIG
      command = ["cc", "-shared", "-fPIC", "-O1", "-I", config["rubyhdrdir"], "-I", config["rubyarchhdrdir"],
                 "-o", File.join(@directory, "leaky.so"), EXTENSION]
      assert system(*command), "cc failed"
    end

    # The line of config.ru with the comment.
    def leaking_line(name)
      RACKUP.fetch(name).lines.index { |line| line.match?(PLANTED) } + 1
    end
  end
end
