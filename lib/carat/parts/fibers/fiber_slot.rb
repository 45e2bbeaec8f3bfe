# frozen_string_literal: true

require_relative "../../request/slot"

module Carat
  module Request
    # A slot with a fiber of its own. The slot ends when a request has left something behind in the fiber.
    class FiberSlot < Slot
      # How many slots may be idle. Further idle slots end, which frees the memory of their fibers.
      IDLE_LIMIT = 32

      # The fiber of the slot; nil before it runs.
      attr_reader :fiber

      # `scheduler` is the Scheduler of this thread; the other parameters go to Slot.
      def initialize(app, lane, scheduler, **options, &fatal)
        super(app, lane, **options, &fatal)
        @lane = lane
        @scheduler = scheduler
        @used = false
      end

      # Serves requests as Slot#run does. Also ends when enough other slots are idle, or when the fiber cannot be
      # reused.
      def run
        @fiber = Fiber.current
        @born_with = variables
        super
      end

      # The method and the path of the current request; nil between two requests.
      def request
        @env && "#{@env['REQUEST_METHOD']} #{@env['REQUEST_PATH']}"
      end

      private

      def take
        super if @lane.idle < IDLE_LIMIT && (!@used || untouched?)
      end

      # Serves a request, and then lets the fibers run that it has woken. Otherwise the next request might take what
      # they were woken for, such as a connection of a pool.
      def serve(env)
        @env = env
        @used = true
        super
        @scheduler.end_run
        @lane.give_way(@scheduler.woken)
      ensure
        @env = nil
      end

      # Whether the application has left nothing in the fiber that the next request would find: in `Thread.current[]`,
      # in `Fiber[]`, or in instance variables, where Rails keeps its state.
      def untouched?
        Thread.current.keys.empty? && storage.empty? && (@fiber.instance_variables.empty? || as_born?)
      end

      # Whether the fiber has only the instance variables that it had when it was new, unchanged. Gems such as
      # fiber-annotation, which async needs, give every fiber a variable. A value must be frozen, because another could
      # have been changed in place.
      def as_born?
        variables == @born_with && @born_with.each_value.all?(&:frozen?)
      end

      def variables
        @fiber.instance_variables.to_h { |name| [name, @fiber.instance_variable_get(name)] }
      end

      NOTHING = {}.freeze
      private_constant :NOTHING

      if Fiber.method_defined?(:storage)
        def storage
          @fiber.storage || NOTHING
        end
      else
        def storage
          NOTHING
        end
      end
    end
  end
end
