# frozen_string_literal: true

require "test_helper"

# Params are the same whoever takes the files out of a form.
class FormParamsTest < Support::FormTest
  serves Support::FormReport::APP, args: %w[--multipart edge]

  def test_files_that_every_rack_takes_for_files_are_taken_out
    { '"b.txt"' => 1, "b.txt" => 1, '""' => 0, '"C:\\temp\\b.txt"' => 1, '"/a/b.txt"' => 1, '"b;c=d.txt"' => 1,
      '"\u00FCb.txt"' => 1, '"%C3%BC%22.txt"' => 1, '"100%.txt"' => 1, '"a%zz.txt"' => 1, '" "' => 1,
      '"b"; filename*=UTF-8\'\'%c3%bcb' => 1, '"b.tar.gz"' => 1, "\"#{"b" * 500}.txt\"" => 1 }.each do |filename, count|
      taken = assert_same(form(field("x", "1"), file("a", filename), field("y", "2")), message: filename)
      assert_equal count, taken, filename
    end
  end

  def test_names_make_the_same_structure
    names = %w[a[b] a[b][] a[b][] a[] a[][x] a[][y] b c.d e[f][g][h] h\ i]
    names.each_slice(3) do |some|
      body = form(*some.flat_map { |name| [numbered(name, 1), field(name, "text"), numbered(name, 2)] })
      assert_same(body, message: some.inspect)
    end
    assert_equal 3, assert_same(form(*Array.new(3) { |number| numbered("a[]", number) }, field("a[]", "text")))
    assert_equal 2, assert_same(form(numbered("a[x]", 1), field("a[y]", "1"), numbered("a[z][]", 2)))
    assert_equal 1, assert_same(form(numbered("a", 1), field("x", "1"), numbered("a", 2))), "the last of a name counts"
  end

  def test_heads_of_every_kind
    disposition = 'Content-Disposition: form-data; name="a"; filename="b"'
    { disposition => 1, disposition.upcase.sub("NAME=", "name=").sub("FILENAME=", "filename=") => 1,
      "content-disposition:form-data;name=a;filename=b" => 1,
      'Content-Disposition: form-data; filename="b"; name="a"' => 1,
      "Content-Disposition: form-data; filename=b" => 1,
      "Content-Disposition: form-data; name=a; filename*=utf-8''b%20c" => 1,
      "Content-Type: text/plain; charset=utf-16\r\n#{disposition}" => 1,
      "#{disposition}\r\nContent-Type: multipart/mixed; boundary=x" => 1,
      "#{disposition}\r\nContent-Transfer-Encoding: base64\r\nContent-Length: 3\r\nX-Odd: \u00FC;=\"" => 1,
      "#{disposition}\r\nContent-Type:" => 1, "#{disposition}\r\nContent-ID: <x>" => 1 }.each do |head, count|
      assert_equal count, assert_same(form([head, CONTENT], field("z", "1"), [head, CONTENT]), message: head), head
    end
  end

  def test_fields_of_every_kind
    ["", "x", "\r\n", "--", "\u00FC", "\xFF", "x" * 100_000, "\r\n--AaB03", "a=b&c=d"].each do |content|
      assert_same(form(field("x", content), file("f"), field("y", content)))
    end
    %w[text/plain text/plain;charset=us-ascii text/plain;charset=ISO-8859-1 text/plain;charset="utf-8"
       text/plain;charset=x-unknown application/json].each do |type|
      assert_same(form(file("f"), field("x", "\u00FC", "\r\nContent-Type: #{type}")), message: type)
    end
    assert_same form(field("_charset_", "iso-8859-1"), field("x", "\xFC"), file("\u00FC"))
    assert_same form(["X: y", "1"], ["Content-ID: <z>", "2"], ["Content-Type: text/plain", "3"], file("f"))
  end

  def test_contents_of_every_size_and_what_is_almost_a_delimiter
    limit = 8 * 1024
    [0, 1, limit - 1, limit, limit + 1, 65_535, 65_536, (1 << 20) - 1, 1 << 20, (1 << 20) + 1].each do |size|
      body = form(file("f", "x", CONTENT.byteslice(0, 1) * size), field("y", "1"), file("g", "y", "z" * size))
      assert_equal size > limit ? 2 : 0, assert_same(body, message: size.to_s)
    end
    ["\r", "\r\n", "\r\n--AaB03", "\r\n--AaB03x!", "\r\n--AaB03x-", "\r\n--AaB03xx\r\n", "--"].each do |almost|
      assert_equal 1, assert_same(form(file("f", "x", "#{almost}!".b << CONTENT << almost)), message: almost.dump)
    end
  end

  def test_the_last_byte_of_a_content_is_kept_whatever_it_is
    [13, 10, 45, 0].each { |byte| assert_equal 1, assert_same(form(file("f", "x", CONTENT + byte.chr))) }
  end

  def test_bodies_that_are_no_form
    whole = form(file("f", "x", "content\r\n"), field("x", "1"))
    delimiter = "--#{BOUNDARY}\r\n"
    ["", "x", delimiter, "--#{BOUNDARY}--\r\n", "\r\n#{whole}", "preamble\r\n#{whole}", whole.gsub("\r\n", "\n"),
     "#{delimiter}\r\n#{whole}", "#{delimiter}#{delimiter}#{whole}", "#{delimiter}X: y\r\n#{whole}",
     "#{delimiter}\r\n\r\n#{whole}", whole.sub("\r\n\r\n", "\r\n"), "--#{BOUNDARY}x\r\n#{whole}",
     form(file("f", "x", "--#{BOUNDARY}\r\n")), form(field("f", "--#{BOUNDARY}--\r\n")),
     part(*file("f")) + "--#{BOUNDARY}--x\r\n" + whole, part(*file("f")) + "--#{BOUNDARY}-- \r\n",
     whole + "epilogue", whole + whole, whole.chomp, whole.chomp + "\n"].each do |body|
      assert_same body
    end
  end

  def test_a_form_that_breaks_off_is_the_same_error
    whole = form(field("x", "1"), file("f"), file("g"))
    first = whole.index("\r\n\r\n", 100)
    places = [10, 60, first - 3, first, first + 2, first + 4, first + 5, 15_000, 20_100, 30_000, *-40..-1]
    places.each { |place| assert_same whole.byteslice(0...place), message: "up to #{place}" }
  end

  def test_as_many_parts_as_rack_takes_and_more
    assert_equal 100, assert_same(form(*Array.new(100) { |number| file("f#{number}") }))
    assert_same form(*Array.new(128) { |number| file("f#{number}") })
    assert_same form(file("f"), *Array.new(4095) { |number| field("x#{number}", "1") })
  end

  private

  # A file whose content tells which one it is.
  def numbered(name, number)
    file(name, "\"#{number}\"", "#{CONTENT}#{number}")
  end
end
