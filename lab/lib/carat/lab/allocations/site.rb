# frozen_string_literal: true

require_relative "."

module Carat
  module Lab
    module Allocations
      # What a line has allocated: objects, bytes of their slots, and bytes of malloc. `classes` is a Hash of numbers of
      # objects by class name. The file is nil where no line of the program ran.
      Site = Struct.new(:file, :line, :objects, :slots, :malloc, :classes) do
        # Returns Sites, the one with most objects first, from the rows of Allocations.stop. Lines whose file the block
        # rejects are left out, as are other threads.
        def self.gather(rows, &reject)
          rows = rows.reject { |file, *| file == false || (file && reject&.call(file)) }
          sites = rows.group_by { |file, line, *| [file, line] }.map { |place, members| from(place, members) }
          sites.sort_by { |site| [-site.objects, -site.malloc, site.file.to_s, site.line] }
        end

        def self.from(place, rows)
          classes = rows.each_with_object(Hash.new(0)) do |(_, _, type, objects), names|
            names[class_name(type)] += objects if objects.positive?
          end
          new(*place, *[3, 4, 6].map { |index| rows.sum { |row| row[index] } },
              classes.sort_by { |name, count| [-count, name] }.to_h)
        end

        # The name for nil is that of objects of Ruby's own.
        def self.class_name(type)
          return "(internal)" if type.nil?

          Site::NAME.bind_call(type) || "a class without a name"
        end
        private_class_method :from, :class_name

        # Bytes of slots and of malloc.
        def bytes
          slots + malloc
        end
      end

      # A class may have a method `name` of its own.
      Site::NAME = Module.instance_method(:name)
    end
  end
end
