# frozen_string_literal: true

require "ripper"

module Support
  # The constants that a Ruby file names, and the files of the libraries that define them: `carat/config/option` is
  # Carat::Config::Option. A folder that no file names as a module is a room: `carat/config/sources/flags` is
  # Carat::Config::Flags.
  class NamedConstants
    CAPITALS = %w[CLI DSL HTTP2 IO JSON OTLP TLS].to_h { |word| [word.downcase, word] }.freeze
    ELSEWHERE = { "SchedulerError" => "parts/fibers/scheduler", "IncompleteBody" => "native" }.freeze
    IGNORED = %i[on_sp on_nl on_ignored_nl on_comment].freeze

    # `roots` are the directories `carat` of the server's library and of the lab's.
    def initialize(*roots)
      @full = roots.flat_map { |root| Dir["**/*.rb", base: root].map { |path| [path, File.join(root, path)] } }.to_h
      @files = paths.to_h { |path| [constant(path.delete_suffix(".rb")), path] }
    end

    # Paths relative to their root of the files that `path` needs and does not require itself; those of a folder come
    # with the file that has the folder's name.
    def missing(path)
      text = File.read(@full.fetch(path))
      own = required(text, path)
      needed(text, path).reject { |file| own.any? { |other| covers?(other, file) } }
    end

    # Paths of all files, relative to their root.
    def paths
      @full.keys
    end

    # Whether the file at `path` defines the constant of its name: by `class`, `module` or an assignment, in any case.
    def defined_in?(path)
      name = constant(path.delete_suffix(".rb")).last
      tokens = significant(File.read(@full.fetch(path)))
      tokens.each_cons(3).any? do |before, (kind, word), after|
        kind == :on_const && word.delete("_").casecmp?(name) &&
          (%w[class module].include?(before.last) || after.last == "=")
      end
    end

    private

    def covers?(file, other)
      file == other || other.start_with?("#{file.delete_suffix(".rb")}/")
    end

    def constant(stem)
      *folders, file = stem.split("/")
      modules = folders.each_index.reject { |depth| room?(folders.first(depth + 1).join("/")) }
      [*folders.values_at(*modules), file].map { |part| camel(part) }
    end

    def camel(part)
      part.split("_").map { |word| CAPITALS.fetch(word) { word.capitalize } }.join
    end

    def room?(folder)
      @rooms ||= Hash.new do |found, name|
        inside = @full.filter_map { |path, full| full if path.start_with?("#{name}/") || path == "#{name}.rb" }
        opening = /^ *(module|class) #{camel(File.basename(name))}\b/
        found[name] = inside.none? { |full| File.read(full).match?(opening) }
      end
      @rooms[folder]
    end

    def required(text, path)
      relative = text.scan(/^\s*require_relative "([^"]+)"/).flatten
      absolute = text.scan(%r{^\s*require "carat/([^"]+)"}).flatten
      autoloaded = text.scan(/^\s*autoload :\w+, File\.join\(__dir__, "([^"]+)"\)/).flatten
      [path, *absolute.map { |name| "#{name}.rb" },
       *[*relative, *autoloaded].map { |name| expand("#{name.delete_suffix(".rb")}.rb", path) }]
    end

    def expand(name, from)
      File.expand_path(name, File.join("/", File.dirname(from))).delete_prefix("/")
    end

    def needed(text, path)
      scopes = constant(path.delete_suffix(".rb"))
      chains(text).filter_map { |names| definition(names, scopes) }.uniq.reject { |file| covers?(file, path) }
    end

    # The file of what Ruby finds under these names in the modules around, the innermost first.
    def definition(names, scopes)
      scopes.size.downto(0) do |depth|
        names.size.downto(1) do |size|
          file = @files[scopes.first(depth) + names.first(size)]
          return file if file
        end
      end
      ELSEWHERE.key?(names.first) ? "#{ELSEWHERE.fetch(names.first)}.rb" : nil
    end

    # Names such as ["Config", "Option"], without those that a file defines.
    def chains(text)
      tokens = significant(text)
      tokens.each_index.filter_map { |index| chain(tokens, index) if begins_chain?(tokens, index) }.uniq
    end

    def significant(text)
      Ripper.lex(text).reject { |token| IGNORED.include?(token[1]) }.map { |token| token[1..2] }
    end

    def begins_chain?(tokens, index)
      tokens[index][0] == :on_const && !["::", "class", "module"].include?(tokens[index - 1][1])
    end

    def chain(tokens, index)
      names = [tokens[index][1]]
      while tokens.dig(index + 1, 1) == "::" && tokens.dig(index + 2, 0) == :on_const
        index += 2
        names << tokens[index][1]
      end
      names
    end
  end
end
