# frozen_string_literal: true

require_relative "../cable"
require_relative "timers"

module Carat
  module Cable
    # Refuses code of the application that cannot work while the edge has the sockets, so that no code silently does
    # something else.
    module Refusals
      # Methods through which messages of streams or of clients no longer go, so that overriding them has no effect.
      CHANNEL_METHODS = %i[transmit stream_handler stream_decoder stream_transmitter default_stream_handler
                           worker_pool_stream_handler].freeze
      CONNECTION_METHODS = %i[transmit encode decode receive on_message dispatch_websocket_message beat].freeze
      STREAMS = %i[stream_from stream_for].freeze
      private_constant :CHANNEL_METHODS, :CONNECTION_METHODS, :STREAMS

      module_function

      # Checks all classes that are loaded. Raises Error with the class, the file and the line.
      def check_loaded
        descendants(::ActionCable::Connection::Base).each { |owner| check_connection(owner) }
        descendants(::ActionCable::Channel::Base).each { |owner| check_channel(owner) }
      end

      # Checks a class of connections, unless it has been checked before.
      def check_connection(owner)
        once(owner) { check_overridden(owner, CONNECTION_METHODS, ::ActionCable::Connection::Base) }
      end

      # Checks a class of channels, unless it has been checked before.
      def check_channel(owner)
        once(owner) do
          check_timers(owner)
          check_overridden(owner, CHANNEL_METHODS, ::ActionCable::Channel::Base)
          own_methods(owner, ::ActionCable::Channel::Base).each { |method| check_code(owner, method) }
        end
      end

      # Checks the block and the coder that a channel passes to `stream_from`.
      def check_stream(owner, handler, coder)
        refuse(owner, handler.try(:source_location), "`stream_from` with a block") if handler
        return if coder.nil? || coder == ::ActiveSupport::JSON

        refuse(owner, nil, "`stream_from` with the coder #{coder}")
      end

      def descendants(owner)
        owner.subclasses.flat_map { |subclass| [subclass, *descendants(subclass)] }
      end

      # Yields unless the class has been checked. When Rails reloads code, it makes new classes, which are checked
      # again.
      def once(owner)
        return if owner.instance_variable_defined?(:@carat_cable_checked)

        yield
        owner.instance_variable_set(:@carat_cable_checked, true)
      end

      def check_timers(owner)
        timers = owner.periodic_timers
        refuse_timer(owner, timers.last, "`periodically` more than #{Timers::LIMIT} times") if timers[Timers::LIMIT]
        timers.each do |timer|
          every = timer.last.fetch(:every)
          refuse_timer(owner, timer, "`periodically` every #{every.to_f} seconds") if every < Timers::SHORTEST
        end
      end

      # Refuses a timer of the class. A place within Action Cable is left out: it wraps a Symbol, the name of the
      # method, in a block of its own.
      def refuse_timer(owner, (callback), what)
        place = callback.source_location
        refuse(owner, (place unless place&.first&.include?("/action_cable/")), what)
      end

      def check_overridden(owner, names, base)
        own_methods(owner, base).each do |method|
          next unless names.include?(method.name)

          refuse(owner, method.source_location, "a method `#{method.name}` of its own")
        end
      end

      # The methods of a class and of its modules, without those of `base` and the patches that are prepended to it.
      def own_methods(owner, base)
        (owner.ancestors - base.ancestors).flat_map do |ancestor|
          names = ancestor.instance_methods(false) + ancestor.private_instance_methods(false)
          names.map { |name| ancestor.instance_method(name) }
        end
      end

      def check_code(owner, method)
        code = RubyVM::InstructionSequence.of(method)
        line = code && line_of_block(code)
        refuse(owner, [code.path, line], "`stream_from` with a block") if line
      end

      # The line of the first call of one of STREAMS with a block, or nil. A call with `&block` is no such call, because
      # `block` may be nil.
      def line_of_block(code)
        line = code.first_lineno
        code.to_a.last.each do |instruction|
          line = instruction if instruction.is_a?(Integer)
          return line if instruction.is_a?(Array) && passes_block?(*instruction)
        end
        code.each_child do |child|
          inner = line_of_block(child)
          return inner if inner
        end
        nil
      end

      def passes_block?(_name, *operands)
        operands.last.is_a?(Array) &&
          operands.any? { |operand| operand.is_a?(Hash) && STREAMS.include?(operand[:mid]) }
      end

      def refuse(owner, place, what)
        place ||= Object.const_source_location(owner.name) if owner.name
        raise Error, "#{[owner, place&.first(2)&.join(":")].compact.join(", ")}: #{what} does not work with the " \
                     "option `cable`"
      end

      private_class_method :descendants, :once, :check_timers, :refuse_timer, :check_overridden, :own_methods,
                           :check_code, :line_of_block, :passes_block?, :refuse
    end
  end
end
