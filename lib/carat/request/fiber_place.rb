# frozen_string_literal: true

require_relative "place"

module Carat
  module Request
    # A place that a fiber has for itself, and keeps as long as nothing of one request is left in the fiber for the
    # next.
    class FiberPlace < Place
      # How many places may wait for a request; more end, and what their fibers held is free.
      IDLE_LIMIT = 32

      # The fiber that it has, once that runs.
      attr_reader :fiber

      # `scheduler` is the Scheduler of this thread; the rest is that of Place.
      def initialize(app, lane, scheduler, **options, &fatal)
        super(app, lane, **options, &fatal)
        @lane = lane
        @scheduler = scheduler
        @used = false
      end

      # As Place#run, but ends before that when there are enough others, or the fiber cannot be used again.
      def run
        @fiber = Fiber.current
        @born_with = variables
        super
      end

      # The verb and the path of the request that it works on; nil between two of them.
      def request
        @env && "#{@env['REQUEST_METHOD']} #{@env['REQUEST_PATH']}"
      end

      private

      def take
        super if @lane.idle < IDLE_LIMIT && (!@used || untouched?)
      end

      # Whoever was woken comes before the next request, which might take what it was woken for: a connection of a pool.
      def serve(env)
        @env = env
        @used = true
        super
        @scheduler.close_stretch
        @lane.give_way(@scheduler.woken)
      ensure
        @env = nil
      end

      # Whether the application has left nothing where the next request would find it: `Thread.current[]`, `Fiber[]`,
      # and instance variables, in which Rails keeps its state.
      def untouched?
        Thread.current.keys.empty? && storage.empty? && (@fiber.instance_variables.empty? || as_born?)
      end

      # Gems such as fiber-annotation, which async needs, give every fiber a variable. What is in one that can be
      # changed may have been.
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
