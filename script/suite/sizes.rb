# frozen_string_literal: true

# Checks how long source files and functions are, and how many files a folder has. Over the budget is a note, over the
# limit a failure.
module Suite
  # One kind of source file: what it may measure in lines, and how its functions begin.
  Budget = Struct.new(:pattern, :file, :file_limit, :function, :function_limit, :opening, keyword_init: true)

  # Source files and functions that are too long.
  class Sizes
    BUDGETS = [
      Budget.new(pattern: "{lib,exe,ext,bench,lab,script,test,examples}/**/*.{rb,ru}",
                 file: 150, file_limit: 300, function: 25, function_limit: 50, opening: /\A\s*def\s+(?<name>\S+)/),
      Budget.new(pattern: "{crates,bench,fuzz,lab}/**/*.rs",
                 file: 300, file_limit: 500, function: 25, function_limit: 50,
                 opening: /\A\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:const|async|unsafe|extern\s+"C")\s+)*fn\s+(?<name>\w+)/),
      # Without the libraries in vendor/.
      Budget.new(pattern: "lab/lib/carat/lab/html/assets/*.js",
                 file: 150, file_limit: 300, function: 25, function_limit: 50,
                 opening: /\A\s*(?:function\s+)?(?!if|for|while|do)(?<name>\w+)\(.*\) \{\z/)
    ].freeze
    # The folders of what is packed, and how many files each may have.
    FOLDERS = "{lib,lab/lib,crates/*/src,lab/crate/src}/**/"
    FOLDER_LIMIT = 12
    RUST_TESTS = /^#\[cfg\(test\)\]\s*\nmod \w+ \{/
    RUST_TEST_FILE = %r{/tests?(/|\.rs\z)|_tests?\.rs\z}
    ENDING = /\A\s*(end|\}|\).*;)\s*\z/
    ONE_LINE = /[;}]\z|\A\s*def\s+[\w.?!]+(\(.*\))?\s=\s/

    # One thing that is over its budget.
    Finding = Struct.new(:place, :amount, :budget, :limit, :unit) do
      def failure?
        amount > limit
      end

      def to_s
        "#{failure? ? "failure" : "note"}: #{place}: #{amount} #{unit || "lines"}, budget #{budget}, limit #{limit}"
      end
    end

    # @return [Array<Finding>] the failures last
    def findings
      found = BUDGETS.flat_map do |budget|
        Dir[budget.pattern].grep_v(RUST_TEST_FILE).grep_v(%r{(\A|/)target/}).flat_map { |path| measure(path, budget) }
      end
      (found + folders).sort_by { |finding| finding.failure? ? 1 : 0 }
    end

    private

    def folders
      Dir[FOLDERS].grep_v(RUST_TEST_FILE).filter_map do |folder|
        files = Dir["#{folder}*"].count { |path| File.file?(path) }
        finding = Finding.new(folder, files, FOLDER_LIMIT, FOLDER_LIMIT, "files")
        finding if finding.failure?
      end
    end

    def measure(path, budget)
      lines = source(path).lines(chomp: true)
      file = Finding.new(path, lines.size, budget.file, budget.file_limit)
      [file, *functions(path, lines, budget)].select { |finding| finding.amount > finding.budget }
    end

    # A Rust file counts without the tests at its end.
    def source(path)
      text = File.read(path)
      path.end_with?(".rs") ? text.partition(RUST_TESTS).first : text
    end

    # The code is formatted: a function ends at the first closing line with the indentation of its first.
    def functions(path, lines, budget)
      lines.each_with_index.filter_map do |line, first|
        next unless (match = budget.opening.match(line)) && !line.match?(ONE_LINE)

        last = (first...lines.size).find { |index| ends?(lines[index], line) } || first
        Finding.new("#{path}:#{first + 1} #{match[:name]}", last - first + 1, budget.function, budget.function_limit)
      end
    end

    def ends?(line, opening)
      line.match?(ENDING) && line[/\A\s*/] == opening[/\A\s*/]
    end
  end
end

if $PROGRAM_NAME == __FILE__
  findings = Suite::Sizes.new.findings
  puts findings
  exit findings.none?(&:failure?)
end
