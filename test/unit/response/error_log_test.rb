# frozen_string_literal: true

require "test_helper"
require "stringio"
require "carat/response/error_log"

module Carat
  class ErrorLogTest < Minitest::Test
    def test_error_is_one_block_of_lines
      stream = StringIO.new
      Response::ErrorLog.new(stream).add(RuntimeError.new("broken"),
                                         { "REQUEST_METHOD" => "GET", "REQUEST_PATH" => "/" })
      assert_match(%r{\AGET /: .*broken.*\n\z}m, stream.string)
    end

    def test_log_without_a_reader_is_no_error
      reader, writer = IO.pipe
      log = Response::ErrorLog.new(writer)
      reader.close
      log.add(RuntimeError.new("broken"), {})
      writer.close
      log.add(RuntimeError.new("broken"), {})
    end
  end
end
