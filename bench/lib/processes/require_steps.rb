# frozen_string_literal: true

require "fiddle"
require "json"
require "rack"
require "rack/builder"

module Bench
  # Memory by `require` in the way of derailed_benchmarks: the resident memory of the process after a file is loaded,
  # less that before. Mapped files are left out. Runs in a process of its own, which loads nothing else of the
  # benchmark.
  class RequireSteps
    # One call; `bytes` are inclusive.
    Step = Struct.new(:file, :parent, :children, :bytes)
    PAGE_BYTES = 4096
    # The directory of a gem.
    GEM = %r{\A.*/gems/[^/]+/}
    # Replaces `require` as derailed_benchmarks does, and `require_relative`, which must not end in RubyGems.
    PATCH = <<~'RUBY'
      original = Kernel.instance_method(:require)
      [Kernel, Kernel.singleton_class].each do |owner|
        owner.define_method(:require) { |path| steps.measure(path) { original.bind_call(self, path) } }
        owner.define_method(:require_relative) do |path|
          place = caller_locations(1, 1).first
          file = File.expand_path(path, File.dirname(place.absolute_path || place.path))
          steps.measure(file) { gem_original_require(file) }
        end
      end
      Kernel.send(:private, :require, :require_relative)
    RUBY

    # Loads a rackup file and prints the bytes by gem as JSON. With the word "collect", garbage is collected and free
    # memory is returned to the kernel before each reading; then only files of another gem than the one that asks for
    # them are steps, since each reading takes so long.
    def self.start(rackup, *words)
      out = $stdout.dup
      $stdout.reopen($stderr)
      steps = new(collect: words.include?("collect"))
      steps.load(rackup)
      out.puts(JSON.generate(steps.by_gem))
      out.flush
      exit!(0)
    end

    def initialize(collect:)
      @statm = File.open("/proc/self/statm")
      @statm.sync = true
      @trim = Fiddle::Function.new(Fiddle::Handle::DEFAULT["malloc_trim"], [Fiddle::TYPE_SIZE_T], Fiddle::TYPE_INT)
      @collect = collect
      @current = @top = Step.new("(boot)", nil, [], 0)
      @thread = Thread.current
    end

    def load(rackup)
      steps = self
      binding.eval(PATCH, "<internal:steps>")
      before = resident
      Rack::Builder.parse_file(rackup)
      @top.bytes = resident - before
      steps
    end

    # Calls the block, and notes by how much the process grew meanwhile.
    def measure(path)
      return yield unless Thread.current.equal?(@thread)

      file = found(path.to_s)
      return yield if @collect && place(file) == place(@current.file)

      before = resident
      step = Step.new(file, @current, [], 0)
      @current.children << step
      @current = step
      begin
        yield.tap { |result| step.file = $LOADED_FEATURES.last if result }
      ensure
        step.bytes = resident - before
        @current = step.parent
      end
    end

    # Own bytes of the files of each gem. What a file that is not found takes belongs to the one that asked for it.
    def by_gem
      require_relative "../../../lab/lib/carat/lab/weigh/gem_names"
      names = Carat::Lab::Weigh::GemNames.new(Dir.pwd)
      Hash.new(0).tap { |sums| add(@top, @top.file, names, sums) }
    end

    private

    def found(path)
      path.start_with?("/") ? path : $LOAD_PATH.resolve_feature_path(path)&.last || path
    rescue LoadError
      path
    end

    def place(file) = file[GEM] || File.dirname(file)

    def resident
      if @collect
        GC.start
        @trim.call(0)
      end
      @statm.rewind
      _, resident, shared = @statm.read.split.map { |word| Integer(word) }
      (resident - shared) * PAGE_BYTES
    end

    def add(step, gem, names, sums)
      gem = names.of(step.file) if step.file.start_with?("/")
      sums[gem] += step.bytes - step.children.sum(&:bytes)
      step.children.each { |child| add(child, gem, names, sums) }
    end
  end
end
