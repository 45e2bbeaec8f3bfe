# frozen_string_literal: true

module Suite
  # The numbers of passed, failed, and skipped tests.
  Tally = Struct.new(:passed, :failed, :skipped) do
    # Counts the results of `cargo test`; nil when it printed none.
    def self.from_cargo(output)
      lines = output.scan(/^test result: \S+ (\d+) passed; (\d+) failed; (\d+) ignored/)
      sum(lines) { |passed, failed, ignored| new(passed, failed, ignored) }
    end

    # A check of the source text is not a test: it counts only when it fails.
    def self.from_check(_output)
      zero
    end

    def self.zero
      new(0, 0, 0)
    end

    def self.sum(lines)
      lines.map { |numbers| yield(*numbers.map(&:to_i)) }.reduce(:+)
    end
    private_class_method :sum

    def +(other)
      self.class.new(passed + other.passed, failed + other.failed, skipped + other.skipped)
    end

    # The same with at least one failure, for a runner that failed without naming a test.
    def failing
      failed.zero? ? self.class.new(passed, 1, skipped) : self
    end

    def to_s
      line = "#{passed} passed, #{failed} failed"
      skipped.zero? ? line : "#{line}, #{skipped} skipped"
    end
  end
end
