# frozen_string_literal: true

require "fileutils"
require "json"
require "open3"
require "rbconfig"
require "tmpdir"

module Support
  # An application with a known leak, or none, in a directory of its own, and what `carat leak` says about it.
  module PlantedApplication
    COMMAND = [RbConfig.ruby, "-I", File.expand_path("../../lib", __dir__),
               File.expand_path("../../exe/carat", __dir__), "leak"].freeze

      # By name, rackup files; REQUESTS is the number of requests of a run. A line that leaks ends with a comment that
    # says so.
    RACKUP = {
      clean: "run ->(_env) { [200, {}, [\"hello\"]] }\n",
      object: <<~RUBY,
        KEPT = []
        run(lambda do |_env|
          KEPT << Object.new # leaks
          [200, {}, []]
        end)
      RUBY
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
      cache: <<~RUBY,
        CACHE = {}
        COUNT = [0]
        run(lambda do |_env|
          CACHE[COUNT[0] += 1] = "x" * 200 # fills
          CACHE.shift if CACHE.size > REQUESTS * 3 / 5
          [200, {}, []]
        end)
      RUBY
      # As many bytes are freed as allocated, but one piece in each run of pages stays, and the next pieces have a size
      # for which these pages are of no use.
      fragmentation: <<~RUBY,
        require "fiddle"
        SIZES = [[112, 256], [128, 32], [160, 128], [192, 64], [224, 128], [256, 16], [320, 64], [384, 32], [448, 64]]
        BYTES = 4096
        WINDOW = []
        STATE = { requests: 0, live: 0 }
        def allocate(size, one_in)
          (BYTES / size).times do |index|
            WINDOW << [Fiddle.malloc(size), size, (index % one_in).zero?]
            STATE[:live] += size
          end
        end
        (REQUESTS / 8).times { allocate(*SIZES.first) }
        LIMIT = STATE[:live]
        run(lambda do |_env|
          generation = (STATE[:requests] += 1) / (REQUESTS / 8)
          allocate(*SIZES[(generation + 1) % SIZES.size])
          while STATE[:live] > LIMIT
            pointer, size, stays = WINDOW.shift
            next if stays

            Fiddle.free(pointer)
            STATE[:live] -= size
          end
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
    }.freeze

    EXTENSION = <<~C
      #include <ruby.h>
      #include <stdlib.h>
      static VALUE leak(VALUE self) { char *volatile bytes = malloc(16); (void)bytes; return Qnil; }
      void Init_leaky(void) { rb_define_global_function("leak_sixteen_bytes", leak, 0); }
    C

    def setup
      @directory = File.realpath(Dir.mktmpdir("carat"))
    end

    def teardown
      FileUtils.remove_entry(@directory)
    end

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
      compile_extension if name == :extension
    end

    # Standard output, standard error, and the status of the command.
    def run_leak(*words)
      Open3.capture3(*COMMAND, *words, chdir: @directory)
    end

    def compile_extension
      config = RbConfig::CONFIG
      source = File.join(@directory, "leaky.c")
      File.write(source, EXTENSION)
      command = ["cc", "-shared", "-fPIC", "-O1", "-I", config["rubyhdrdir"], "-I", config["rubyarchhdrdir"],
                 "-o", File.join(@directory, "leaky.so"), source]
      assert system(*command), "cc failed"
    end

    # The line of config.ru with the comment.
    def leaking_line(name)
      RACKUP.fetch(name).lines.index { |line| line.include?("# leaks") || line.include?("# fills") } + 1
    end
  end
end
