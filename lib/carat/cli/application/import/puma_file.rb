# frozen_string_literal: true

require_relative "../../../config/config_error"
require_relative "call"
require_relative "puma_dsl"
require_relative "source_text"

module Carat
  module CLI
    class Import
      # A configuration of Puma. Calls of Puma's methods become those of Carat; everything else stays as it is written.
      class PumaFile
        DEFAULT_THREADS = 'threads Integer(ENV.fetch("PUMA_MAX_THREADS") { ENV.fetch("MAX_THREADS", 5) })'
        TIMEOUT = <<~TEXT
          # Puma waits for a request for as long as it takes; Carat responds with 504 after 60 s.
          # request_timeout "off"
        TEXT
        CONDITIONS = %i[IF UNLESS].freeze
        private_constant :CONDITIONS, :DEFAULT_THREADS, :TIMEOUT

        # `path` names the file in messages, `text` is its content.
        def initialize(path, text)
          @path = path
          @source = SourceText.new(text)
          @root = parse(text)
          @edits = {}
          @names = []
        end

        # Returns the text of carat.rb.
        def to_carat
          walk(@root, [])
          [head, @source.replace(@edits), tail].join
        end

        private

        def parse(text)
          RubyVM::InstructionSequence.compile(text, @path) # whose errors have a place
          RubyVM::AbstractSyntaxTree.parse(text)
        rescue SyntaxError => e
          raise Config::ConfigError, e.message.lines.first.to_s.chomp
        end

        def head
          "# From #{@path}, by `carat import`. Save it as carat.rb, and run `carat check`.\n\n"
        end

        def tail
          threads = "\n# Puma's default.\n#{DEFAULT_THREADS}\n" unless @names.include?(:threads)
          [threads, "\n", TIMEOUT].join
        end

        # `parents` are the nodes around, the innermost last. The blocks of hooks contain no options.
        def walk(node, parents, is_hook: false)
          return unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)
          return remark(@source.range(node), "Puma is not loaded here") if puma?(node)

          call = Call.at(node, @source, PumaDSL::NAMES) unless is_hook
          return node.children.each { |child| walk(child, [*parents, node], is_hook:) } unless call
          return unless translate(call, parents) && call.block? && PumaDSL::BLOCKS.include?(call.name)

          walk(node.children.last, [*parents, node], is_hook: call.name != :cluster)
        end

        def puma?(node)
          node.type == :CONST && node.children == [:Puma]
        end

        # Returns whether the call has become code.
        def translate(call, parents)
          @names << call.name
          translation = PumaDSL.translate(call)
          unless translation.code
            comment_out(call, parents, translation.note)
            return false
          end
          code = @source.statement?(call.range) ? translation.code : parenthesized(translation.code)
          edit(PumaDSL::BLOCKS.include?(call.name) ? call.head : call.range, code)
          remark(call.range, sentence(translation.note)) if translation.note
          true
        end

        # A whole statement becomes a comment; a call that shares its lines with other code becomes nil.
        def comment_out(call, parents, note)
          statement = statement(call, parents)
          if statement
            lines = @source.lines(statement)
            edit(lines, commented(@source.slice(lines), note))
          else
            edit(call.range, "nil")
            remark(call.range, "#{@source.slice(call.range).lines.first.chomp}: #{note}")
          end
        end

        # Returns the range of the call if it stands alone, or together with the condition behind it, as in
        # `plugin :x if y`.
        def statement(call, parents)
          return call.range if @source.alone?(call.range)

          around = parents.reverse.find { |node| condition?(node) && Call.count(node, PumaDSL::NAMES) == 1 }
          range = around && @source.range(around)
          range if range && range.begin == call.range.begin && @source.alone?(range)
        end

        def condition?(node)
          CONDITIONS.include?(node.type) && node.first_lineno == node.last_lineno
        end

        # Inside of an expression, arguments need parentheses.
        def parenthesized(code)
          code.sub(/\A(\w+) (.*)\z/, '\1(\2)')
        end

        def commented(text, note)
          indent = text[/\A[ \t]*/]
          lines = text.lines(chomp: true).map { |line| "#{indent}# #{line.delete_prefix(indent)}".rstrip }
          ["#{indent}# #{sentence(note)}:", *lines].join("\n")
        end

        # A comment above the line where `range` begins.
        def remark(range, note)
          start = @source.lines(range).begin
          indent = @source.slice(start...range.begin)[/\A[ \t]*/]
          edit(start...start, "#{indent}# #{note}.\n")
        end

        # A name stays as it is.
        def sentence(note)
          note.sub(/\A[a-z]+(?=[ ,;])/, &:capitalize)
        end

        def edit(range, text)
          @edits[range] = [@edits[range], text].join
        end
      end
    end
  end
end
