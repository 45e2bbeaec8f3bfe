# frozen_string_literal: true

require "etc"
require "json"
require "socket"
require "timeout"
require_relative "../../cable"
require_relative "broker"

module Carat
  module Cable
    # Passes the broadcasts from the broker to the edge. A new relay takes over with a message of its own, `[null,
    # server, since]`. The old relay and the new one get it at the same place among the broadcasts, so that no broadcast
    # is lost or passed twice.
    class Relay
      # Seconds without a message after which the relay sends its own message again, which the broker has to return.
      # Also the longest time for which a relay that is told to end continues, so that a new one can take over.
      BEAT = 2
      # The number of times BEAT without a message after which the broker counts as lost.
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

      # Runs until a signal ends the process. Raises Error when the broker is lost, or what the broker's adapter raises
      # then.
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

      # Whether a newer relay of this server has taken over.
      def retired?
        @newest > @since
      end

      # Sends the relay's own message when it is due, and sleeps. A relay that gets no messages yet sends 0 in place of
      # its time, so that it does not take over.
      def watch
        silence = now - @heard
        raise Error, "the broker has sent nothing for #{silence.round(1)} s" if silence > LOST * @beat

        limit { @broker.publish([nil, @server, @hears ? @since : 0]) } if silence >= @beat || @newest < @since
        sleep(@beat)
      end

      # Limits the time of a call of the broker. Behind a broken network, a broker neither takes nor refuses anything.
      def limit(&)
        Timeout.timeout(LOST * @beat, Error, "the broker does not answer", &)
      end

      # Waits until the block returns true, for BEAT seconds at most.
      def await
        deadline = now + @beat
        sleep(0.01) until yield || now > deadline
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      # Handles a message. The adapter's thread runs this, and so reads no faster than the edge takes the broadcasts.
      def hear(text)
        @hears = true # An adapter that has connected a second time does not call `ready`.
        @heard = now
        case JSON.parse(text)
        in [String => stream, String => payload] then pass(stream, payload)
        in [nil, String => server, Integer => since] then follow(since) if server == @server && since > @newest
        end
      rescue JSON::ParserError, NoMatchingPatternError, Error => e
        @broker.logger.error("cable: a message of the broker is dropped: #{e.message.byteslice(0, 200).scrub}")
      end

      # Lets the newest relay take over. This one, if it is the newest, waits until the one before it has passed all
      # earlier messages to the edge.
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
