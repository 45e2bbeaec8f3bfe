# frozen_string_literal: true

require "test_helper"
require "carat/request/inputs/empty_input"
require "delegate"

module Carat
  module Request
    class EmptyInputTest < Minitest::Test
      def setup
        @input = EmptyInput.new
      end

      def test_it_reads_as_a_string_that_is_empty
        assert_equal ["", nil, nil, []], [@input.read, @input.read(1), @input.gets, @input.each.to_a]
        assert_equal [0, 0, 0, true], [@input.rewind, @input.pos, @input.size, @input.eof?]
        assert_raises(EOFError) { @input.readline }
      end

      def test_a_buffer_is_emptied_and_becomes_binary
        buffer = +"old"
        assert_nil @input.read(3, buffer)
        assert_equal ["", Encoding::BINARY], [buffer, buffer.encoding]
      end

      def test_it_is_binary
        assert_equal Encoding::BINARY, @input.external_encoding
        assert_equal Encoding::BINARY, @input.read.encoding
      end

      def test_it_has_every_method_of_an_input_in_memory
        (MemoryInput.public_instance_methods - Object.public_instance_methods).each do |name|
          assert_respond_to @input, name
        end
      end

      def test_a_method_that_no_input_has_is_an_error
        refute_respond_to @input, :fileno_of_nothing
        assert_raises(NoMethodError) { @input.fileno_of_nothing }
        assert_raises(NoMethodError) { @input.initialize_copy(@input) }
      end

      def test_methods_are_found_through_a_delegate_and_by_send
        assert_nil SimpleDelegator.new(@input).gets
        assert_nil @input.__send__(:gets)
        assert_equal "", @input.method(:read).call
      end

      def test_it_can_be_closed
        refute_predicate @input, :closed?
        @input.close
        assert_predicate @input, :closed?
        assert_raises(IOError) { @input.read }
      end

      def test_what_is_written_is_there
        @input.write("abc")
        @input.rewind
        assert_equal "abc", @input.read
      end

      def test_inputs_share_nothing
        @input.write("abc")
        assert_equal 0, EmptyInput.new.size
      end

      def test_it_is_inspected_without_its_content
        @input.write("secret")
        assert_equal "#<Carat::Request::EmptyInput>", @input.inspect
      end
    end
  end
end
