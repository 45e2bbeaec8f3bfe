# frozen_string_literal: true

require "objspace"
require "carat/log/relative_path"

module Carat
  module Lab
    module Leak
      # Why objects are alive: for each, the shortest path to it from a root of the garbage collector.
      class RootPaths
        # The steps of a path that are shown.
        STEPS_LIMIT = 8

        # Objects that are looked at; further ones have no path.
        OBJECTS_LIMIT = 3_000_000

        Root = Struct.new(:name)

        # Holds what methods hold while this runs.
        STACK = "machine_context"
        GLOBALS = "global_tbl"
        CLASS = Kernel.instance_method(:class)
        NAME = Module.instance_method(:name)
        VARIABLES = Kernel.instance_method(:instance_variables)
        VARIABLE = Kernel.instance_method(:instance_variable_get)
        CONSTANTS = Module.instance_method(:constants)
        CONSTANT = Module.instance_method(:const_get)
        CLASS_VARIABLES = Module.instance_method(:class_variables)
        CLASS_VARIABLE = Module.instance_method(:class_variable_get)
        # Global variables of Ruby, such as $FILENAME, which opens the file that the command line names.
        UNREAD = /[^$\w]|\A\$FILENAME\z/
        LOCATION = Proc.instance_method(:source_location)
        AUTOLOAD = Module.instance_method(:autoload?)
        private_constant :Root, :LOCATION, :CONSTANTS, :AUTOLOAD, :CONSTANT, :STACK, :GLOBALS, :CLASS, :NAME,
                         :VARIABLES, :VARIABLE, :CLASS_VARIABLES, :CLASS_VARIABLE, :UNREAD

        # Returns the name of an object's class; a BasicObject has one, too.
        def self.class_name(object)
          type = CLASS.bind_call(object)
          NAME.bind_call(type) || "a class without a name"
        end

        # `objects` are those to find; a path does not lead through `hidden` ones.
        def initialize(objects, hidden:)
          @wanted = objects.to_h { |object| [object.__id__, true] }
          @parents = {}.compare_by_identity
          @wrapped = {}
          @late = [Thread.current, Fiber.current]
          [*hidden, self, @wanted, @parents, @wrapped, @late].each { |object| @parents[object] = nil }
          search
        end

        # Returns the path as an Array of Strings, from the root to the object; nil when there is none.
        def of(object)
          # Since Ruby 4.0, an object of Ruby's own is between a class and the values of its variables.
          links = chain(object)&.reject { |link| wrapper?(link) } or return
          steps = links.each_cons(2).filter_map { |parent, child| step(parent, child) }
          steps << "a root (#{links.first.name})" if steps.empty?
          steps = [*steps.first(STEPS_LIMIT / 2), "...", *steps.last(STEPS_LIMIT / 2)] if steps.size > STEPS_LIMIT
          [*steps, label(object)]
        end

        private

        # First without the stack of this thread, which holds the samples themselves.
        def search
          roots = ObjectSpace.reachable_objects_from_root
          @parents[roots] = nil
          queue = []
          @late.each { |object| @parents[object] = Root.new(STACK) }
          roots.each do |name, objects|
            objects.each { |object| visit(object, Root.new(name), queue) } unless name == STACK
          end
          walk(queue)
          walk(@late.dup) if @wanted.any?
        end

        def walk(queue)
          @parents[queue] = nil
          position = 0
          while position < queue.size && position < OBJECTS_LIMIT && @wanted.any?
            object = queue[position]
            position += 1
            ObjectSpace.reachable_objects_from(object)&.each { |child| visit(child, object, queue) }
          end
        end

        def visit(object, parent, queue)
          if wrapper?(object)
            # Ruby 4.0 crashes with its internal_object_id.
            address = object.inspect[/0x\h+/].hex
            return if @wrapped.key?(address)

            @wrapped[address] = true
          end
          return if @parents.key?(object)

          @parents[object] = parent
          queue << object
          @wanted.delete(object.__id__) unless wrapper?(object)
        end

        def wrapper?(object)
          ObjectSpace::InternalObjectWrapper === object # rubocop:disable Style/CaseEquality
        end

        # The objects from a root, whose name is the first element, to this one.
        def chain(object)
          chain = [object]
          chain.unshift(@parents[chain.first]) while @parents[chain.first]
          chain if chain.size > 1
        end

        def step(parent, child)
          case parent
          when Root then parent.name == GLOBALS ? global(child) : nil
          # A module has a name of its own.
          when Module then constant(parent, child) unless Module === child # rubocop:disable Style/CaseEquality
          else "#{label(parent)}#{variable(parent, child)}"
          end
        end

        # The name of its class, and where a Proc is written.
        def label(object)
          place = LOCATION.bind_call(object) if Proc === object # rubocop:disable Style/CaseEquality
          name = self.class.class_name(object)
          place ? "#{name} (#{Log::RelativePath.of(place.first)}:#{place.last})" : name
        end

        def global(child)
          name = global_variables.grep_v(UNREAD).find { |variable| value_of(variable).equal?(child) }
          name&.to_s || "a global variable"
        end

        def value_of(variable)
          eval(variable.to_s) # rubocop:disable Security/Eval
        end

        def constant(parent, child)
          name = constant_name(parent, child)
          return name.to_s if name && parent.equal?(Object)

          suffix = name ? "::#{name}" : variable(parent, child) || class_variable(parent, child)
          "#{NAME.bind_call(parent) || "a class"}#{suffix}"
        end

        def constant_name(parent, child)
          CONSTANTS.bind_call(parent, false).find do |name|
            !AUTOLOAD.bind_call(parent, name) && CONSTANT.bind_call(parent, name, false).equal?(child)
          end
        end

        def variable(parent, child)
          name = VARIABLES.bind_call(parent).find { |ivar| VARIABLE.bind_call(parent, ivar).equal?(child) }
          name && " #{name}"
        end

        def class_variable(parent, child)
          name = CLASS_VARIABLES.bind_call(parent, false).find do |variable|
            CLASS_VARIABLE.bind_call(parent, variable).equal?(child)
          rescue RuntimeError
            false # a superclass has got a variable of this name since, and Ruby refuses to read it
          end
          name && " #{name}"
        end
      end
    end
  end
end
