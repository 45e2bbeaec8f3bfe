# frozen_string_literal: true

require "test_helper"

class StreamInputTest < Support::NativeTest
  WINDOW = 256 * 1024
  ENCODINGS = [Encoding::UTF_8, Encoding::BINARY, Encoding::US_ASCII, Encoding::UTF_16LE].freeze
  # Bytes that are not text, lines, an empty line, and no line feed at the end.
  BODY = "\xff\0a\n\nb\xc3\n\xe2\x82".b.freeze

  def teardown
    GC.stress = false
    super
  end

  def test_reads_do_not_depend_on_the_size_of_the_pieces
    ways = [*1..(BODY.bytesize + 1)].map { |length| ->(io) { Array.new(BODY.bytesize + 1) { io.read(length) } } }
    ways << ->(io) { [io.read, io.read, io.read(1), io.read(0)] } << ->(io) { [io.read(nil), io.gets, io.eof?] }
    ways << ->(io) { io.each.to_a } << ->(io) { [io.gets, io.read(2), io.gets, io.read] }
    splits.product(ways) { |pieces, way| assert_equal way.call(StringIO.new(BODY)), way.call(input_of(*pieces)) }
  end

  def test_what_it_reads_is_binary
    [["read", 2], ["read"], ["gets"], ["readpartial", 2]].each do |way|
      assert_equal Encoding::BINARY, input_of("abc\n").public_send(*way).encoding
    end
    assert_equal Encoding::BINARY, input_of.read.encoding
    assert_equal [Encoding::BINARY, true], input_of.then { |input| [input.external_encoding, input.binmode?] }
  end

  # Itsi appends and returns an empty String; Puma 6.1 counted the characters of a UTF-8 buffer.
  def test_buffer_is_replaced_and_becomes_binary_whatever_it_was
    ["", "\u20ac was here", "x" * 100_000].product(ENCODINGS, [4, 100, nil]) do |content, encoding, length|
      input = input_of("\u20ac", "uro")
      buffer = content.dup.force_encoding(encoding)
      assert_same buffer, input.read(length, buffer)
      assert_equal [Encoding::BINARY, "\u20acuro".b.byteslice(0, length || 6)], [buffer.encoding, buffer]
    end
  end

  def test_buffer_is_emptied_at_the_end
    input = input_of("x")
    input.read
    buffer = +"was here"
    assert_nil input.read(5, buffer)
    assert_empty buffer
    assert_same buffer, input.read(nil, buffer << "again")
    assert_empty buffer
  end

  def test_buffer_that_cannot_be_written_loses_nothing
    input = input_of("abc")
    assert_raises(FrozenError) { input.read(2, "frozen") }
    assert_equal "abc", input.read
  end

  def test_shared_buffer_changes_alone
    whole = "0123456789" * 100
    buffer = whole.byteslice(100, 500)
    input_of("abc").read(3, buffer)
    assert_equal ["0123456789" * 100, "abc"], [whole, buffer]
  end

  def test_reading_into_a_buffer_allocates_nothing
    input = input_of(*Array.new(2) { "x" * 30_000 })
    buffer = String.new
    input.read(4000, buffer)
    # Other threads of the process may allocate meanwhile.
    allocated = Array.new(3) do
      before = GC.stat(:total_allocated_objects)
      10.times { input.read(1000, buffer) }
      GC.stat(:total_allocated_objects) - before
    end
    assert_operator allocated.min, :<, 2, "one is the test's own"
  end

  def test_negative_length_is_refused_as_by_an_io
    assert_raises(ArgumentError) { input_of("a").read(-1) }
    assert_raises(ArgumentError) { input_of("a").readpartial(-1) }
  end

  def test_read_waits_until_it_has_all_and_readpartial_for_a_byte
    lane, input = open
    seen = Queue.new
    Thread.new { (seen << input.readpartial(10)) << input.read(4) }
    lane.expect(:window)
    lane.send_bytes(Support::Wire.chunk(1, "ab"))
    assert_equal "ab", seen.pop
    lane.send_bytes(Support::Wire.chunk(1, "cd"))
    lane.send_bytes(Support::Wire.chunk(1, "efg"))
    assert_equal "cdef", seen.pop
  end

  def test_readpartial_ends_with_an_error
    input = input_of("abc")
    assert_equal %w[abc], [input.readpartial(5)]
    assert_raises(EOFError) { input.readpartial(5) }
    assert_equal "", input.readpartial(0)
  end

  def test_windows_are_granted_only_as_the_application_reads
    lane, input = open
    assert lane.silent?(0.05)
    reader = Thread.new { input.read(WINDOW / 2) }
    assert_equal [1, WINDOW], lane.expect(:window).unpack("L<L<")
    3.times { lane.send_bytes(Support::Wire.chunk(1, "x" * (WINDOW / 4))) }
    assert_equal WINDOW / 2, reader.value.bytesize
    assert lane.silent?(0.05)
    input.read(1)
    assert_equal [1, WINDOW / 2], lane.expect(:window).unpack("L<L<")
  end

  def test_aborted_body_raises_after_its_data_on_every_read
    input = input_of("abc\nd", ending: :abort)
    assert_equal "abc\n", input.gets
    2.times { assert_raises(Carat::IncompleteBody) { input.gets } }
    2.times { assert_raises(Carat::IncompleteBody) { input.read } }
    [[:read, 1], [:readpartial, 1], [:eof?]].each do |way|
      assert_raises(Carat::IncompleteBody) { input.public_send(*way) }
    end
    assert_operator Carat::IncompleteBody, :<, EOFError
  end

  def test_read_of_an_aborted_body_raises
    assert_raises(Carat::IncompleteBody) { input_of("abc", ending: :abort).read(4) }
    assert_equal "abc", input_of("abc", ending: :abort).read(3)
  end

  def test_edge_that_is_gone_aborts_the_body
    lane, input = open
    reader = Thread.new { input.read(5) }
    reader.report_on_exception = false
    lane.expect(:window)
    lane.send_bytes(Support::Wire.chunk(1, "abc"))
    lane.disconnect
    assert_raises(Carat::IncompleteBody) { reader.value }
  end

  def test_input_ends_with_its_request
    lane, input = open
    lane.slot.respond(200, {}, [])
    assert_raises(IOError) { input.read(1) }
    lane.request(method: "POST", body: { stream: nil })
    lane.slot.take
    assert_match(/the request is over/, assert_raises(IOError) { input.read }.message)
  end

  def test_input_is_readable_until_the_response_is_complete
    lane, input = open
    lane.slot.open_stream(200, {})
    reader = Thread.new { input.read(3) }
    assert_equal %i[response window], [lane.frame.first, lane.frame.first]
    lane.send_bytes(Support::Wire.chunk(1, "abc"))
    assert_equal "abc", reader.value
    lane.slot.close_stream
    assert_raises(IOError) { input.read(1) }
  end

  def test_closed_one_is_not_read
    input = input_of("abc")
    refute_predicate input, :closed?
    input.close
    assert_predicate input, :closed?
    %i[read gets eof?].each { |way| assert_raises(IOError) { input.public_send(way) } }
  end

  def test_requests_during_a_body_are_served_afterwards
    lane, input = open
    reader = Thread.new { input.read }
    lane.expect(:window)
    with_file("in a file") { |file| lane.request(file: file, path: "/file") }
    lane.send_bytes(Support::Wire.chunk(1, "abc"))
    lane.request(path: "/inline", body: "inline")
    lane.send_bytes(Support::Wire.end(1))
    assert_equal "abc", reader.value
    seen = Array.new(2) do
      lane.slot.respond(200, {}, [])
      lane.slot.take.then { |env| [env["PATH_INFO"], env["rack.input"].read] }
    end
    assert_equal [["/file", "in a file"], %w[/inline inline]], seen
  end

  def test_rest_of_a_body_after_its_response_is_dropped
    lane, input = open
    reader = Thread.new { input.read(1) }
    lane.expect(:window)
    lane.send_bytes(Support::Wire.chunk(1, "abc"))
    reader.join
    lane.slot.respond(200, {}, [])
    lane.send_bytes(Support::Wire.chunk(1, "def") + Support::Wire.end(1))
    lane.request(path: "/next")
    assert_equal "/next", lane.slot.take["PATH_INFO"]
  end

  def test_frames_against_the_protocol_are_an_error
    lane, input = open
    lane.slot.open_stream(200, {})
    asking = Thread.new { input.eof? }
    %i[response window].each { |kind| lane.expect(kind) }
    lane.send_bytes(Support::Wire.chunk(1, "x"))
    asking.join
    send_quarter = proc do
      lane.send_bytes(Support::Wire.chunk(1, "x" * (WINDOW / 4)))
      lane.slot.write("y")
    end
    3.times(&send_quarter)
    assert_match(/too much ahead/, assert_raises(Carat::Native::LinkError, &send_quarter).message)
  end

  def test_one_thread_may_read_while_another_writes_the_response
    lane, input = open
    lane.slot.open_stream(200, {})
    writer = Thread.new { 8.times { lane.slot.write("y" * WINDOW) } }
    reader = Thread.new { input.read }
    lane.expect(:response)
    take_turns(lane)
    assert_equal [8 * WINDOW, "x" * 100], [@written, reader.value]
    writer.join
  end

  def test_declared_length_is_in_the_environment
    lengths = [5, nil].map do |length|
      lane = harness
      lane.request(method: "POST", body: { stream: length })
      lane.slot.take["CONTENT_LENGTH"]
    end
    assert_equal ["5", nil], lengths
  end

  def test_input_has_no_rewind
    refute_respond_to input_of("abc"), :rewind
  end

  def test_under_stress_and_while_objects_move
    GC.stress = true
    input = input_of("abc\n", "def", "\n\xff")
    seen = [input.read(2, +"x"), input.gets, input.readpartial(1), input.read]
    GC.stress = false
    assert_equal ["ab", "c\n", "d", "ef\n\xff".b], seen
    GC.compact if GC.respond_to?(:compact)
    assert_nil input.read(1)
  end

  private

  # Sends one byte of the body for each piece of the response, once the body is read, until both have ended.
  def take_turns(lane)
    @written = sent = 0
    wanted = false
    until wanted && @written == 8 * WINDOW
      kind, payload = lane.frame
      next wanted = true if kind == :window

      @written += payload.bytesize - 4
      lane.send_bytes(Support::Wire.window(1, payload.bytesize - 4))
      lane.send_bytes(Support::Wire.chunk(1, "x")) if wanted && (sent += 1) <= 100
    end
    lane.send_bytes(Support::Wire.chunk(1, "x" * [100 - sent, 0].max) + Support::Wire.end(1))
  end

  # Every way to cut the body in two, and one piece for each byte.
  def splits
    [*0..BODY.bytesize].map { |at| [BODY[0, at], BODY[at..]].reject(&:empty?) } << BODY.chars
  end

  # A lane and the input of its first request, whose body has not begun to arrive.
  def open(release: "3.1.0")
    lane = harness(release: release)
    lane.request(method: "POST", body: { stream: nil })
    [lane, lane.slot.take["rack.input"]]
  end

  # An input whose body has arrived completely.
  def input_of(*pieces, ending: :end)
    lane, input = open
    waiting = Thread.new { input.eof? unless pieces.empty? && ending == :abort }
    lane.expect(:window)
    lane.send_bytes(pieces.map { |piece| Support::Wire.chunk(1, piece) }.join + Support::Wire.public_send(ending, 1))
    waiting.join
    input
  end
end
