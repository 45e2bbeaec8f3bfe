# frozen_string_literal: true

require "etc"
require "json"
require_relative "../../cable"
require_relative "broker"

module Carat
  module Cable
    # Passes what the broker sends to the edge. A successor takes over at a message of its own, `[null, server, since]`,
    # which both hear at the same place among the broadcasts: none is lost there, and none passed twice.
    class Relay
      # Seconds of silence after which the relay sends that message again: the broker has to return it. For as long, a
      # relay that is told to end goes on, so that a successor can take over.
      BEAT = 2
      # Beats of silence after which the broker is lost.
      LOST = 3
      private_constant :BEAT, :LOST

      # `broker` is a Broker, `control` the process's Native::Control, and `edge` the process id of the edge.
      def initialize(broker, control, edge, beat: BEAT)
        @broker = broker
        @control = control
        @beat = beat
        @server = [Etc.uname[:nodename], File.read("/proc/sys/kernel/random/boot_id").chomp,
                   File.readlink("/proc/self/ns/pid"), edge].join(" ")
        @since = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
        @newest = 0
        @heard = now
      end

      # Runs until a signal ends it. Raises Error when the broker is lost, or what its adapter raises then.
      def run
        @broker.subscribe(method(:hear), -> { @hears = true })
        await { @hears }
        watch until retired?
        sleep
      rescue SignalException
        await { retired? }
        raise
      end

      private

      # Another relay of this server is younger.
      def retired?
        @newest > @since
      end

      # A relay that does not hear yet must not take over.
      def watch
        silence = now - @heard
        raise Error, "the broker has sent nothing for #{silence.round(1)} s" if silence > LOST * @beat

        @broker.publish([nil, @server, @hears ? @since : 0]) if silence >= @beat || @newest < @since
        sleep(@beat)
      end

      # Waits until the block is true, for a beat at most.
      def await
        deadline = now + @beat
        sleep(0.01) until yield || now > deadline
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      # Runs in the thread of the adapter, which so reads no faster than the edge does.
      def hear(text)
        @heard = now
        case JSON.parse(text)
        in [String => stream, String => payload] then pass(stream, payload)
        in [nil, String => server, Integer => since] then @newest = since if server == @server && since > @newest
        end
      rescue JSON::ParserError, NoMatchingPatternError, Error => e
        @broker.logger.error("cable: a message of the broker is dropped: #{e.message.byteslice(0, 200).scrub}")
      end

      def pass(stream, payload)
        return unless @newest == @since

        stream = Cable.text(stream, STREAM_LIMIT, "the name of its stream")
        payload = Cable.text(payload, PAYLOAD_LIMIT, "the message")
        raise Error, "the edge does not take it" unless @control.broadcast(stream, payload)
      end
    end
  end
end
