# frozen_string_literal: true

module Suite
  # A bound that is a constant rather than an option: a row of docs/security.md.
  #
  #   name, place   of the constant: the end of its file's path, which tells constants of one name apart
  #   stated        its value, as the page has it
  #   answer        a status or what happens instead when it is exceeded
  #   test          the name of its test; nil for those that test/integration/limits_test.rb drives
  NamedLimit = Struct.new(:name, :stated, :answer, :place, :test) do
    # The value, as the source has it. Raises KeyError unless one file has such a constant.
    def value
      sources = NamedLimits.sources.select { |path, _text| path.end_with?(place) }
      found = sources.filter_map { |_path, text| text[/const #{name}: \w+ = (.+);/, 1] }
      found.size == 1 ? found.first : raise(KeyError, "#{name} in #{place}: #{found.size} constants")
    end
  end

  # The constants that bound what clients, the application and other users of the machine make Carat hold or do.
  module NamedLimits
    ROOT = File.expand_path("../..", __dir__)
    ROW = /^\| `([A-Z_]+)` \| (.+) \| .+ \| (.+) <!-- (\S+)(?: (\w+))? --> \|$/

    # The Rust code by path.
    def self.sources
      @sources ||= Dir["#{ROOT}/crates/*/src/**/*.rs"].to_h { |path| [path, File.read(path)] }
    end

    TABLE = File.read("#{ROOT}/docs/security.md").scan(ROW).map do |row|
      NamedLimit.new(*row).tap { |limit| limit.answer = Integer(limit.answer, exception: false) || limit.answer }
    end.freeze
  end
end
