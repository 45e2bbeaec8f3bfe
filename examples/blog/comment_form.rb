# frozen_string_literal: true

require "uri"

# A comment as submitted by a visitor.
class CommentForm
  # The body is not a form, or is larger than any that the page sends.
  class Malformed < StandardError; end

  # Characters.
  NAME_LIMIT = 60
  TEXT_LIMIT = 4000
  # Bytes. A character takes at most twelve: four bytes of UTF-8, each percent-encoded in three.
  FORM_LIMIT = 64 * 1024
  # All control characters except line feed and tab.
  CONTROL = "\u0000-\u0008\u000b-\u001f\u007f"

  # @return [String] valid UTF-8 without control characters
  attr_reader :name, :text

  # @param input [#read, nil] rack.input with an application/x-www-form-urlencoded body
  # @raise [Malformed]
  def self.read(input)
    body = input&.read(FORM_LIMIT + 1).to_s
    raise Malformed if body.bytesize > FORM_LIMIT

    fields = URI.decode_www_form(body).to_h
    new(name: fields.fetch("name", ""), text: fields.fetch("text", ""))
  rescue ArgumentError
    raise Malformed
  end

  def initialize(name: "", text: "")
    @name = clean(name).tr("\n", " ")
    @text = clean(text)
  end

  # Error messages by field.
  # @return [Hash{Symbol => String}]
  def problems
    { name: problem(@name, NAME_LIMIT, "Please say who you are."),
      text: problem(@text, TEXT_LIMIT, "Please write something.") }.compact
  end

  private

  def clean(field)
    field.gsub(/\r\n?/, "\n").delete(CONTROL).strip
  end

  def problem(field, limit, absence)
    return absence if field.empty?

    "That is too long: #{field.size} characters, #{limit} at most." if field.size > limit
  end
end
