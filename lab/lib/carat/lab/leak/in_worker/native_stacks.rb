# frozen_string_literal: true

require_relative "../../profile/native_names"

module Carat
  module Lab
    module Leak
      # Stacks of C that have allocated memory, in words.
      module NativeStacks
        # What belongs to the measurement and to the allocator is above the allocation, Ruby's interpreter below it.
        OWN = %r{/(lab|malloc)\.so\z}
        INTERPRETER = /\A(rb_vm_|vm_|rb_funcall|rb_exec|ruby_exec|rb_yield)/
        RUBY = %r{/(libruby[^/]*|ruby[\d.]*)\z}
        FRAMES_LIMIT = 8
        private_constant :OWN, :INTERPRETER, :RUBY, :FRAMES_LIMIT

        module_function

        # Returns the stack to which most bytes belong, from the inside: for each frame the path of a library, an offset
        # in it, and the name of a function or nil. `rows` are those of Ledger.stacks.
        def largest(rows)
          frames, = rows.group_by(&:last).max_by { |_, blocks| blocks.sum { |_, bytes, _| bytes } }
          shorten(frames || [])
        end

        # Returns a frame in words.
        def describe(library, offset, name)
          place = format("%<library>s+0x%<offset>x", library: File.basename(library), offset:)
          # The offset is where the call returns to.
          function = name || Profile::NativeNames.new([[library, offset - 1]]).find(library, offset - 1)
          function ? "#{function} (#{place})" : place
        end

        # Returns the frames of C between the allocator and the interpreter.
        def shorten(frames)
          called = frames.drop_while { |library, _, _| OWN.match?(library) }
          called = called.take_while { |library, _, name| !RUBY.match?(library) || (name && !INTERPRETER.match?(name)) }
          called.first(FRAMES_LIMIT)
        end

        private_class_method :shorten
      end
    end
  end
end
