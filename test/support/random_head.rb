# frozen_string_literal: true

module Support
  # Heads of parts as no client should send them, from the pieces that parsers stumble over. The same seed makes the
  # same heads.
  class RandomHead
    NAMES = ["name", "filename", "filename*", "name", "filename", "Filename", "filename*0", "filename*1*", "size",
             "NAME", "file name", ""].freeze
    BITS = ["a", "b.txt", " ", ";", "=", "\\", "\\\"", "\\\\", "%41", "%", "\u00FC", "\xFF".b, "/", "C:\\x", "'", ",",
            "\t", "filename=", "; name=", "utf-8''", "UTF-8'en'", "(", "\0"].freeze
    EXTENDED = ["utf-8''a", "UTF-8''%c3%bc.txt", "iso-8859-1''%fc", "utf-8''", "x'y'z", "utf-8''a%", "a"].freeze
    LINES = ["Content-Type: text/plain", "content-type:image/png; name=x", "Content-Type: text/plain; charset=utf-8",
             "Content-ID: <x>", "X-Odd: filename", "Content-Transfer-Encoding: binary", "no colon", " folded", "X Y: z",
             "Content-Type: a/b; filename=c", "Content-Length: 7"].freeze

    def initialize(seed)
      @random = Random.new(seed)
    end

    # Most of them are nearly right.
    def next
      lines = [disposition]
      lines.insert(@random.rand(lines.size + 1), pick(LINES)) if chance(2)
      lines.insert(@random.rand(lines.size + 1), pick([*LINES, disposition])) if chance(8)
      lines.map(&:b).join(chance(30) ? "\n" : "\r\n")
    end

    private

    def disposition
      type = chance(12) ? pick(["attachment", "Form-Data", "", "form data"]) : "form-data"
      parameters = (chance(6) ? random_parameters : ordinary_parameters).map(&:b)
      parameters.shuffle!(random: @random) if chance(6)
      header = chance(12) ? pick(["content-disposition:", "Content-Disposition : ", "X-Content-Disposition: "]) : nil
      [header || "Content-Disposition: ", type, *parameters.map { |text| separator.b << text }].map(&:b).join
    end

    def separator
      chance(15) ? pick([" ; ", ";\r\n ", ", ", ";;", " "]) : pick(["; ", ";", ";  "])
    end

    def ordinary_parameters
      all = ["name=#{pick(["a", '"a"', '"a[]"', '"b[c]"'])}"]
      all << "filename=#{value}".b unless chance(6)
      all << "filename*=#{pick(EXTENDED)}" if chance(4)
      all
    end

    def random_parameters
      Array.new(@random.rand(4)) { pick(NAMES).b << (chance(10) ? " = " : "=") << value }
    end

    def value
      bits = Array.new(1 + @random.rand(3)) { pick(BITS).b }.join
      case @random.rand(8)
      when 0 then bits
      when 1 then "\"#{bits}".b
      when 2 then "\"\""
      else "\"".b << bits << "\""
      end
    end

    def pick(from)
      from[@random.rand(from.size)]
    end

    def chance(one_in)
      @random.rand(one_in).zero?
    end
  end
end
