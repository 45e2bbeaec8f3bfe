# frozen_string_literal: true

require "test_helper"

module Carat
  # Sockets that hold what `client_memory` has, and others that ask for a little.
  class CableMemoryTest < Support::IntegrationTest
    include Support::CableServer
    needs Support::CableApp.obstacle

    # With 1 MiB for all clients, a message has at most 8 KiB, and the subscriptions of a client 16.
    ARGS = ["--cable", "/cable", "--client-memory", "1M", *CONTROL_SOCKET].freeze
    NORMAL = 1000
    TRY_AGAIN_LATER = 1013
    HONEST = 20

    def test_unfinished_messages_take_the_sockets_from_nobody
      server = rails(workers: 1, threads: 1, args: ARGS)
      holders = Array.new(130) { |number| welcome(server, "h#{number}").tap { |it| hold_message(it) } }
      assert_honest(server)
      codes = holders.map { |holder| close(holder) }.tally

      assert_equal [NORMAL, TRY_AGAIN_LATER], codes.keys.sort
      assert_operator codes[NORMAL], :>, 50
    end

    def test_subscriptions_with_long_identifiers_take_the_sockets_from_nobody
      server = rails(workers: 1, threads: 1, args: ARGS)
      holders = Array.new(75) { |number| welcome(server, "h#{number}") }
      holders.each_with_index { |holder, number| subscribe_much(holder, number) }
      assert_honest(server)
    end

    def test_clients_that_have_left_take_the_sockets_from_nobody
      server = rails(workers: 1, threads: 1, args: [*ARGS, "--cable-history", "60"])
      fields = { "Sec-WebSocket-Protocol" => "actioncable-v1-ext-json" }
      75.times do |number|
        leaver = socket(server, "h#{number}", **fields)
        subscribe_much(leaver, number)
        leaver.close
      end
      assert_honest(server)
    end

    private

    # The first 7000 bytes of a message of 8000.
    def hold_message(client)
      client.write([0x81, 0xFE, 8000, "mask"].pack("CCS>a4") << ("x" * 7000))
    end

    def subscribe_much(client, number)
      7.times do |part|
        identifier = JSON.generate("channel" => "RoomChannel", "filler" => "#{number} #{part} #{"x" * 1900}")
        client.json("command" => "subscribe", "identifier" => identifier)
      end
      client.read_json { |message| message["type"] == "confirm_subscription" && message["identifier"].include?(" 6 ") }
    rescue EOFError, SystemCallError, TypeError
      # It had to make room for others.
    end

    def assert_honest(server)
      members = Array.new(HONEST) { |number| subscriber(server, "n#{number}") }
      broadcast(server, "text" => "hello")
      # Before that, they may hear who has left.
      members.each { |member| member.read_json { |message| message["message"] == { "text" => "hello" } } }
    end

    # Ends the message and the socket. Returns the code with which the server closes it, or has closed it.
    def close(client)
      begin
        client.write(("x" * 1000) + client.frame(Support::WebSocketClient::CLOSE, [NORMAL].pack("S>")))
      rescue SystemCallError
        # The server has closed it.
      end
      client.close_code
    end
  end
end
