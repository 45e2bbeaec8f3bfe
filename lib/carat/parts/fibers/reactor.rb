# frozen_string_literal: true

require "io/wait"
require_relative "reactor/attachment"
require_relative "reactor/round"
require_relative "reactor/task"
require_relative "reactor/timer"
require_relative "scheduler"

module Carat
  # Calls blocks when IOs are ready and when time has passed, in one thread. Each block runs in a fiber of its own, so
  # that a block that waits (for its client, a database, `sleep`) delays no other.
  #
  #   reactor = Carat::Reactor.new
  #   reactor.attach(:read, server) { |listener| greet(listener.accept) }
  #   reactor.every(60) { puts "still here" }
  #   reactor.run
  #
  # Any thread may call `attach`, `detach`, `after`, `every`, `next_tick`, `cancel` and `stop`, before and during `run`.
  class Reactor
    private_constant :Round, :Task

    # Without a block, the first error of a callback ends `run`, which raises it. With a block, errors go to the block,
    # and `run` continues.
    #
    # @yieldparam error [Exception] an error that a callback raised
    def initialize(&on_error)
      @on_error = on_error
      @attachments = {}.compare_by_identity
      reset
    end

    # Calls the block with `io` whenever `io` is ready, until it is detached or closed.
    #
    # @param direction [Symbol] `:read` or `:write`
    # @param io [IO]
    # @yieldparam io [IO]
    # @return [self]
    # @raise [ArgumentError] for another direction, or if the IO is attached in this direction already
    def attach(direction, io, &callback)
      attachment = Attachment.new(direction, io, callback)
      directions = @attachments[io] ||= {}
      raise ArgumentError, "attached already: #{io.inspect} for #{direction}" if directions.key?(direction)

      directions[direction] = attachment
      begin_task(attachment)
      self
    end

    # Ends what `attach` began: the block is not called again, even if the IO is ready.
    #
    # @return [Boolean] whether the IO was attached in this direction
    def detach(direction, io)
      attachment = @attachments[io]&.delete(direction)
      @attachments.delete(io) if @attachments[io]&.empty?
      cancel(attachment) if attachment
      !attachment.nil?
    end

    # Calls the block once, after `seconds`.
    #
    # @param seconds [Numeric] 0 or more
    # @return [Object] the argument for `cancel`
    # @raise [ArgumentError] if `seconds` is no such number
    def after(seconds, &callback)
      begin_task(Timer.new(seconds, callback))
    end

    # Calls the block every `seconds`. After a block that takes longer, the next call follows at once; the times in
    # between are left out.
    #
    # @param seconds [Numeric] more than 0
    # @return [Object] the argument for `cancel`
    # @raise [ArgumentError] if `seconds` is no such number
    def every(seconds, &callback)
      begin_task(Timer.new(seconds, callback, repeats: true))
    end

    # Calls the block as soon as the callbacks that are due now have run.
    #
    # @return [Object] the argument for `cancel`
    def next_tick(&callback)
      begin_task(Task.new(callback))
    end

    # Cancels the calls that `after`, `every` or `next_tick` has announced. A callback that runs is not interrupted.
    #
    # @param task [Object] the object that one of these methods returned
    def cancel(task)
      return next_tick { cancel(task) } unless [nil, Thread.current].include?(@thread)

      task.cancel
      nil
    end

    # Calls the blocks until nothing is attached and no timer is left, or until `stop`. Inside of Carat.run, only the
    # fiber that calls `run` waits.
    #
    # @raise [SchedulerError] if the reactor runs already
    # @raise [Exception] the first error of a callback, for a reactor without a block for errors
    def run
      raise SchedulerError, "this reactor runs already" if @thread

      begin
        @thread = Thread.current
        Fiber.current_scheduler ? work : Carat.run { work }
      ensure
        reset
      end
    end

    # Ends `run` when the callbacks that run have ended, and detaches everything. Does nothing when the reactor does not
    # run.
    def stop
      round = @round
      next_tick { round.stop } if @thread
    end

    private

    def begin_task(task)
      @round.add(task)
      task
    end

    def work
      @round.run { |task| forget(task) if task.is_a?(Attachment) }
    end

    # Detaches the IO of an attachment that has ended because the IO was closed.
    def forget(attachment)
      known = @attachments[attachment.io]
      detach(attachment.direction, attachment.io) if known && known[attachment.direction].equal?(attachment)
    end

    def reset
      @attachments.clear
      @round = Round.new(@on_error)
      @thread = nil
    end
  end
end
