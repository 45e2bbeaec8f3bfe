# frozen_string_literal: true

require "rbconfig"

module Support
  # An application whose allocations are known, and what `carat profile` says about them.
  module ProfiledApplication
    # Bytes that each request keeps, by a line of Ruby and by a function of C, and that it drops again.
    RUBY_BYTES = 1000
    NATIVE_BYTES = 2000
    DROPPED_BYTES = 3000

    # The last three lines have the numbers 3 to 5.
    RACKUP = <<~RUBY.freeze
      require_relative "hoard"
      KEPT = []
      def keep = KEPT << ("k" * #{RUBY_BYTES})
      def drop = "d" * #{DROPPED_BYTES}
      run ->(_env) { keep; drop; hoard_bytes(#{NATIVE_BYTES}); [200, {}, ["hello"]] }
    RUBY

    EXTENSION = <<~C
      #include <ruby.h>
      #include <stdlib.h>
      #include <string.h>
      __attribute__((noinline)) char *hoard_block(size_t size) { char *volatile bytes = malloc(size); memset(bytes, 1, size); return bytes; }
      static VALUE hoard(VALUE self, VALUE size) { hoard_block(NUM2SIZET(size)); return Qnil; }
      void Init_hoard(void) { rb_define_global_function("hoard_bytes", hoard, 1); }
    C

    private

    # Writes the extension, compiled, into the directory.
    def compile_hoard(directory)
      config = RbConfig::CONFIG
      source = File.join(directory, "hoard.c")
      File.write(source, EXTENSION)
      command = ["cc", "-shared", "-fPIC", "-O1", "-fno-optimize-sibling-calls", "-I", config["rubyhdrdir"], "-I",
                 config["rubyarchhdrdir"], "-o", File.join(directory, "hoard.so"), source]
      assert system(*command), "cc failed"
    end

    # The calls of a parsed document: for each, the frames from the outermost, and the weight of its own.
    def calls(document, measure = "allocations", unit = "bytes")
      prefix, frame = document.fetch("stacks").values_at("prefix", "frame")
      stacks = []
      frame.each_with_index { |number, index| stacks << [*(prefix[index] && stacks[prefix[index]]), number] }
      frames = document.fetch("frames")
      weights = document.fetch(measure).fetch(unit)
      stacks.zip(weights).map { |stack, weight| [stack.map { |number| frames[number] }, weight] }
    end

    # The weight of all calls below a function that the block is true for.
    def inclusive(calls, &block)
      calls.sum { |frames, weight| frames.any?(&block) ? weight : 0 }
    end

    def line(number)
      ->(frame) { frame["line"] == number && frame["file"]&.end_with?("/config.ru") }
    end

    def native(name)
      ->(frame) { frame["kind"] == "c" && frame["name"] == name }
    end
  end
end
