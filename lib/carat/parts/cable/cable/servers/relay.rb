# frozen_string_literal: true

require "etc"
require "json"
require "socket"
require "timeout"
require_relative "../../cable"
require_relative "broker"

module Carat
  module Cable
    # Passes what the broker sends to the edge. A successor takes over at a message of its own, `[null, server,
    # since]`, which both relays hear at the same place among the broadcasts, so that none is lost or passed twice.
    class Relay
      # Seconds of silence after which the relay sends that message again: the broker has to return it. For as long, a
      # relay that is told to end goes on, so that a successor can take over.
      BEAT = 2
      # Beats of silence after which the broker is lost.
      LOST = 3
      private_constant :BEAT, :LOST

      # `broker` is a Broker, `control` the process's Parts::Cable::Streams, and `edge` the process id of the edge.
      def initialize(broker, control, edge, beat: BEAT)
        @broker = broker
        @control = control
        @beat = beat
        @place = "carat cable #{File.readlink("/proc/self/ns/pid")} #{edge}"
        @server = [Etc.uname[:nodename], File.read("/proc/sys/kernel/random/boot_id").chomp, @place].join(" ")
        @since = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
        @newest = 0
        @heard = now
      end

      # Runs until a signal ends it. Raises Error when the broker is lost, or what its adapter raises then.
      def run
        limit { @broker.subscribe(method(:hear), -> { @hears = true }) }
        await { @hears }
        watch until retired?
        sleep
      rescue SignalException
        await { retired? }
        raise
      end

      private

      # Whether another relay of this server is younger.
      def retired?
        @newest > @since
      end

      # A relay that does not hear yet must not take over.
      def watch
        silence = now - @heard
        raise Error, "the broker has sent nothing for #{silence.round(1)} s" if silence > LOST * @beat

        limit { @broker.publish([nil, @server, @hears ? @since : 0]) } if silence >= @beat || @newest < @since
        sleep(@beat)
      end

      # A broker behind a broken network neither takes nor refuses anything.
      def limit(&)
        Timeout.timeout(LOST * @beat, Error, "the broker does not answer", &)
      end

      # Waits until the block is true, for a beat at most.
      def await
        deadline = now + @beat
        sleep(0.01) until yield || now > deadline
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      # Runs in the thread of the adapter, which thus reads no faster than the edge does.
      def hear(text)
        @hears = true # An adapter that has connected a second time forgets to say so.
        @heard = now
        case JSON.parse(text)
        in [String => stream, String => payload] then pass(stream, payload)
        in [nil, String => server, Integer => since] then follow(since) if server == @server && since > @newest
        end
      rescue JSON::ParserError, NoMatchingPatternError, Error => e
        @broker.logger.error("cable: a message of the broker is dropped: #{e.message.byteslice(0, 200).scrub}")
      end

      # The youngest relay waits until the one before it has passed all that came before the message to the edge.
      def follow(since)
        @newest = since
        since == @since ? await { hold } : @lock&.close
      end

      # Returns a lock that only one relay of a server holds, until it is retired or its process has ended; or nil.
      def hold
        @lock = UNIXServer.new("\0#{@place}")
      rescue Errno::EADDRINUSE
        nil
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
