# frozen_string_literal: true

require_relative "../library"
require_relative "frame"
require_relative "native_names"

module Carat
  module Lab
    module Profile
      # The functions of a worker's profile as Frames. Those on the way from Ruby to the allocator have none: they are
      # the same for all allocations.
      class FrameFilter
        # Carat calls the application; its own calls are one.
        SERVER = Frame.new("other", "(carat)").freeze

        # The name of the collector's own calls.
        COLLECTOR = "(garbage collector)"

        RUBY = %r{/(libruby[^/]*|ruby[\d.]*)\z}
        ALLOCATION = /\A(ruby_x\w*alloc\w*|rb_exec_event_hooks|rb_\w*newobj\w*|rb_during_gc|rb_gc_\w+)\z/
        ADDRESS = /0x\h{6,}/
        OWN_LIBRARY = "carat/native.so"
        private_constant :OWN_LIBRARY, :RUBY, :ALLOCATION, :ADDRESS

        # `functions` are those of a Recording: Arrays of kind, name, file, and line or offset.
        def initialize(functions)
          unnamed = functions.select { |kind, name, file, _| kind == "c" && file && name.nil? && !RUBY.match?(file) }
          @names = NativeNames.new(unnamed.map { |_, _, library, offset| [library, offset] })
          @frames = functions.map { |function| frame(*function) }
        end

        # Returns the Frame of the function with this number, or nil.
        def fetch(number)
          @frames.fetch(number)
        end

        private

        def frame(kind, name, file, line)
          case kind
          when "ruby" then ruby(name, file, line)
          when "c" then native(name, file, line)
          else Frame.new(kind, clean(name))
          end
        end

        def ruby(name, file, line)
          return SERVER if file&.start_with?(*Library::CODE)

          is_code = file && file != "<cfunc>"
          # Code of a JIT compiler may not have noted its line.
          Frame.new("ruby", clean(name), *([file, (line if line.to_i.positive?)] if is_code))
        end

        def native(name, library, offset)
          return if library.nil? || (RUBY.match?(library) && (name.nil? || ALLOCATION.match?(name)))

          return SERVER if library.end_with?(OWN_LIBRARY)

          Frame.new("c", name || @names.fetch(library, offset), library)
        end

        # Objects without names have addresses.
        def clean(name)
          name ? name.gsub(ADDRESS, "0x...") : "(unknown)"
        end
      end
    end
  end
end
