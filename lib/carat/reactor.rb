# frozen_string_literal: true

require "io/wait"
require_relative "native"
require_relative "reactor/attachment"
require_relative "reactor/round"
require_relative "reactor/task"
require_relative "reactor/timer"
require_relative "scheduler"

module Carat
  # Calls blocks when IOs are ready and when time has passed, in one thread. Each block has a fiber of its own, so one
  # that waits (for its client, a database, `sleep`) keeps no other from being called.
  #
  #   reactor = Carat::Reactor.new
  #   reactor.attach(:read, server) { |listener| greet(listener.accept) }
  #   reactor.every(60) { puts "still here" }
  #   reactor.run
  #
  # `attach`, `detach`, `after`, `every`, `next_tick` and `stop` may be called from any thread, before and during `run`.
  class Reactor
    # The block, if there is one, is given each error that a callback raises; everything goes on after that.
    # Without a block, such an error ends `run`, which raises it.
    def initialize(&on_error)
      @on_error = on_error
      @attachments = {}.compare_by_identity
      reset
    end

    # Calls the block with `io` whenever it can be read from (:read) or written to (:write), until it is detached or
    # closed. Raises ArgumentError when that is attached in this direction already.
    def attach(direction, io, &callback)
      attachment = Attachment.new(direction, io, callback)
      directions = @attachments[io] ||= {}
      raise ArgumentError, "attached already: #{io.inspect} for #{direction}" if directions.key?(direction)

      directions[direction] = attachment
      begin_task(attachment)
      self
    end

    # Calls the block of `attach` no more, even if the IO is ready. Returns whether it was attached.
    def detach(direction, io)
      attachment = @attachments[io]&.delete(direction)
      @attachments.delete(io) if @attachments[io]&.empty?
      cancel(attachment) if attachment
      !attachment.nil?
    end

    # Calls the block once, when so many seconds have passed. Returns what `cancel` takes.
    def after(seconds, &callback)
      begin_task(Timer.new(seconds, callback))
    end

    # Calls the block each time that so many seconds have passed. Returns what `cancel` takes.
    def every(seconds, &callback)
      begin_task(Timer.new(seconds, callback, repeats: true))
    end

    # Calls the block as soon as the others had their turn. Returns what `cancel` takes.
    def next_tick(&callback)
      begin_task(Task.new(callback))
    end

    # Ends what `after`, `every` or `next_tick` has returned.
    def cancel(task)
      return next_tick { cancel(task) } unless [nil, Thread.current].include?(@thread)

      task.cancel
      nil
    end

    # Calls what is to be called until nothing is attached and no time has to pass any more, or `stop` is called. Inside
    # of Carat.run only this fiber waits for that. Raises SchedulerError when the reactor runs already.
    def run
      raise SchedulerError, "this reactor runs already" if @thread

      begin
        @thread = Thread.current
        Fiber.current_scheduler ? work : Carat.run { work }
      ensure
        reset
      end
    end

    # Has `run` return when the callbacks that are under way have ended. What was attached is detached. Does nothing
    # when the reactor does not run.
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

    # An attachment whose IO was closed is one no more.
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
