# frozen_string_literal: true

# Allocates like an application that renders and caches: each request builds a tree of hashes and strings of mixed
# sizes, most of it garbage in the end, and renews some entries of a cache of about 10 MB.
class Allocate
  ENTRIES = 3000
  RENEWED = 6
  ROWS = 40
  ANSWER = { "content-type" => "text/plain" }.freeze
  # Bytes: most strings are short, few are long.
  SIZES = [*[60] * 10, *[200] * 6, *[800] * 4, *[3000] * 3, 12_000, 40_000].freeze

  def initialize
    @cache = Array.new(ENTRIES)
  end

  def call(_env)
    rows = Array.new(ROWS) { |number| row(number) }
    RENEWED.times { @cache[rand(ENTRIES)] = { key: text, body: [text, text] } }
    page = rows.map { |row| row[:fields].map { |name, value| "#{name}=#{value}" }.join("&") }.join("\n")
    [200, ANSWER, [format("%-99s\n", page.bytesize)]]
  end

  private

  def row(number)
    { id: number, fields: Array.new(5) { |field| ["field #{field}", text] }.to_h, tags: Array.new(3) { text[0, 50] } }
  end

  # Between 0.5 and 1.5 times one of the sizes.
  def text
    size = SIZES.sample
    "x" * ((size / 2) + rand(size))
  end
end

run Allocate.new
