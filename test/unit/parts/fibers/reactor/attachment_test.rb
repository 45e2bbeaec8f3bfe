# frozen_string_literal: true

require "test_helper"

class ReactorAttachmentTest < Support::ReactorTest
  module Cases
    def test_a_block_is_called_whenever_its_io_can_be_read
      %w[one two three].each { |word| @reactor.next_tick { @far.write(word) } }
      @reactor.attach(:read, @near) do |io|
        @seen << io.readpartial(3)
        @reactor.detach(:read, io) if @seen.join == "onetwothree"
      end
      run_reactor
      assert_equal "onetwothree", @seen.join
    end

    def test_a_block_is_called_again_while_there_is_something_to_read
      @far.write("abc")
      @reactor.attach(:read, @near) { |io| (@seen << io.readpartial(1)).size == 3 && @reactor.detach(:read, io) }
      run_reactor
      assert_equal %w[a b c], @seen
    end

    def test_what_ruby_has_read_ahead_counts
      @far.write("a\nb\nc\n")
      @reactor.attach(:read, @near) { |io| (@seen << io.gets).size == 3 && @reactor.detach(:read, io) }
      run_reactor
      assert_equal %W[a\n b\n c\n], @seen
    end

    def test_a_block_is_called_when_its_io_can_be_written
      @reactor.attach(:write, @near) { |io| io.write("x").then { @reactor.detach(:write, io) } }
      run_reactor
      assert_equal "x", @far.readpartial(1)
    end

    def test_both_directions_of_one_io_have_their_blocks
      @far.write("in")
      @reactor.attach(:read, @near) { |io| @reactor.detach(:read, io).then { @seen << :read } }
      @reactor.attach(:write, @near) { |io| @reactor.detach(:write, io).then { @seen << :write } }
      run_reactor
      assert_equal %i[read write], @seen.sort
    end

    def test_a_direction_is_attached_once
      @reactor.attach(:read, @near) {}
      error = assert_raises(ArgumentError) { @reactor.attach(:read, @near) {} }
      assert_match(/\Aattached already: #<UNIXSocket:.* for read\z/, error.message)
      assert_raises(ArgumentError) { @reactor.attach(:both, @near) {} }
    end

    def test_a_detached_io_may_be_attached_again
      @far.write("x")
      @reactor.attach(:read, @near) { flunk }
      assert @reactor.detach(:read, @near)
      refute @reactor.detach(:read, @near)
      @reactor.attach(:read, @near) { |io| @seen << io.readpartial(1) && @reactor.stop }
      run_reactor
      assert_equal ["x"], @seen
    end

    def test_the_block_of_a_detached_io_is_not_called_though_it_is_ready
      pairs = Array.new(2) { UNIXSocket.pair }
      pairs.each { |_, far| far.write("x") }
      ios = pairs.map(&:first)
      ios.each { |io| @reactor.attach(:read, io) { @seen << ios.each { |each| @reactor.detach(:read, each) } } }
      run_reactor
      assert_equal 1, @seen.size
    end

    def test_an_io_that_is_closed_is_attached_no_more
      @reactor.attach(:read, @near) { flunk }
      @reactor.after(0.001) { @near.close }
      run_reactor
      refute @reactor.detach(:read, @near)
    end

    def test_the_number_of_a_closed_io_may_be_used_again
      @reactor.attach(:read, @near) { flunk }
      @reactor.next_tick do
        number = @near.fileno
        @near.close
        fresh, far = pair_with(number)
        @reactor.attach(:read, fresh) { |io| @seen << io.readpartial(1) && @reactor.detach(:read, io) }
        far.write("x")
      end
      run_reactor
      assert_equal ["x"], @seen
    end

    def test_a_regular_file_is_always_ready
      File.open(__FILE__) do |file|
        @reactor.attach(:read, file) { |io| @reactor.detach(:read, io).then { @seen << io.gets } }
        run_reactor
      end
      assert_equal [File.foreach(__FILE__).first], @seen
    end

    private

    # The kernel assigns the lowest free number, and the garbage collector may have freed any.
    def pair_with(number)
      @pairs = Array.new((number / 2) + 1) { UNIXSocket.pair }
      @pairs.find { |pair| pair.map(&:fileno).include?(number) } or flunk "#{number} is not used again"
    end
  end

  include Cases

  class Stressed < Support::ReactorTest
    include Stress
    include Cases
  end

  def test_what_is_detached_may_be_collected
    2.times { in_thread { attach_and_detach } }
    GC.start
    assert_operator ObjectSpace.each_object(Carat::Reactor::Attachment).count, :<, 100
  end

  def test_a_thousand_clients_at_once_in_one_thread
    server = TCPServer.new("127.0.0.1", 0)
    @reactor.attach(:read, server) { echo(server.accept) }
    running = Thread.new { @reactor.run }
    clients = Array.new(1000) { TCPSocket.new("127.0.0.1", server.addr[1]) }
    clients.each_with_index { |client, number| client.write(number.to_s) }
    assert_equal Array.new(1000, &:to_s), clients.map { |client| client.readpartial(10) }
    GC.compact if GC.respond_to?(:compact)
    clients.each { |client| client.write("again") }
    assert_equal ["again"], clients.map { |client| client.readpartial(10) }.uniq
    @reactor.stop
    running.join
  ensure
    [*clients, server].each(&:close)
  end

  private

  def attach_and_detach
    200.times do
      @reactor.attach(:read, @near) { flunk }
      @reactor.detach(:read, @near)
    end
    @reactor.run
  end

  def echo(client)
    @reactor.attach(:read, client) do
      client.write(client.readpartial(100))
    rescue EOFError
      client.close
    end
  end
end
