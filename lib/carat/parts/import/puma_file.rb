# frozen_string_literal: true

require_relative "../../config/config_error"
require_relative "call"
require_relative "proxy_protocol"
require_relative "puma_dsl"
require_relative "source_text"
require_relative "strangers"

module Carat
  module CLI
    class Import
      # A configuration of Puma. Calls of Puma's methods become calls of Carat's; all other code stays as it is written.
      class PumaFile
        DEFAULT_THREADS = 'threads Integer(ENV.fetch("PUMA_MAX_THREADS") { ENV.fetch("MAX_THREADS", 5) })'
        TIMEOUT = <<~TEXT
          # Puma waits for a request for as long as it takes; Carat responds with 504 after 60 s.
          # request_timeout "off"
        TEXT
        CONDITIONS = %i[IF UNLESS].freeze
        # The types of nodes whose children are statements.
        BODIES = [:SCOPE, :BLOCK, *CONDITIONS].freeze
        private_constant :BODIES, :CONDITIONS, :DEFAULT_THREADS, :TIMEOUT

        # `path` names the file in messages, `text` is its content.
        def initialize(path, text)
          @path = path
          @source = SourceText.new(text)
          @root = parse(text)
          @proxy_protocol = ProxyProtocol.new(@root, @source)
          @strangers = Strangers.new(@root)
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
          RubyVM::InstructionSequence.compile(text, @path) # for its errors, which name the place
          RubyVM::AbstractSyntaxTree.parse(text)
        rescue SyntaxError => e
          raise Config::ConfigError, e.message.lines.first.to_s.chomp
        end

        # The first lines of carat.rb. A file that names other files relative to itself (`__dir__`) must stay in its
        # folder.
        def head
          folder = "config/" if @path.match?(%r{(?:\A|/)config/[^/]+\z}) && @source.text.match?(/\b__(?:dir|FILE)__\b/)
          "# From #{@path}, by `carat import`. Save it as #{folder}carat.rb, and run `carat check`.\n\n"
        end

        def tail
          threads = "\n# Puma's default.\n#{DEFAULT_THREADS}\n" unless @names.include?(:threads)
          [threads, "\n", TIMEOUT].join
        end

        # Translates the calls below `node`. `parents` are the nodes around it, the innermost last. In the block of a
        # hook (`is_hook`) no call is an option.
        def walk(node, parents, is_hook: false)
          return unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)
          return if stranger?(node, parents, is_hook:)

          call = Call.at(node, @source, PumaDSL::NAMES) unless is_hook
          return node.children.each { |child| walk(child, [*parents, node], is_hook:) } unless call
          return unless translate(call, parents) && call.block? && PumaDSL::BLOCKS.include?(call.name)

          walk(node.children.last, [*parents, node], is_hook: call.name != :cluster)
        end

        # Comments out a statement that uses something that exists only in Puma's process, and returns whether it does.
        # In a hook, only constants are pointed out, because a method may exist when the hook runs.
        def stranger?(node, parents, is_hook:)
          note = @strangers.note(node, parents) or return false
          return false if is_hook && node.type != :CONST

          is_hook ? remark(@source.range(node), note) : comment_out(*statements(node, parents), note)
          true
        end

        # Translates a call, and returns whether it has become code rather than a comment.
        def translate(call, parents)
          @names << call.name
          translation = PumaDSL.translate(call)
          unless translation.code
            comment_out(statement(call, parents), call.range, translation.note)
            return false
          end
          code = @proxy_protocol.complete(translation.code)
          code = parenthesized(code) unless @source.statement?(call.range)
          edit(PumaDSL::BLOCKS.include?(call.name) ? call.head : call.range, code)
          remark(call.range, sentence(translation.note)) if translation.note
          true
        end

        # Makes a comment of a whole statement. Without one, the code at `range`, which shares its lines with other
        # code, becomes nil.
        def comment_out(statement, range, note)
          if statement
            lines = @source.lines(statement)
            @edits[lines] ||= commented(@source.slice(lines), note)
          else
            edit(range, "nil")
            remark(range, "#{@source.slice(range).lines.first.chomp}: #{note}")
          end
        end

        # Returns two ranges: of the statement that has the lines of a node to itself, or nil; and of the innermost
        # statement around the node.
        def statements(node, parents)
          pairs = [*parents, node].each_cons(2).select { |body, child| statement_of?(body, child) }
          ranges = pairs.reverse.map { |_, child| @source.range(child) }
          inner = ranges.fetch(0) { @source.range(node) }
          [ranges.find { |range| @source.lines(range) == @source.lines(inner) && @source.alone?(range) }, inner]
        end

        def statement_of?(body, child)
          BODIES.include?(body.type) && child.type != :BLOCK && !condition_of?(body, @source.range(child))
        end

        def condition_of?(node, range)
          CONDITIONS.include?(node.type) && @source.range(node.children.first) == range
        end

        # Returns the range of a call that has its lines to itself, alone or with a condition behind it, as in `plugin
        # :x if y`; or nil.
        def statement(call, parents)
          return call.range if @source.alone?(call.range)

          around = parents.reverse.find { |node| condition?(node) && Call.count(node, PumaDSL::NAMES) == 1 }
          range = around && @source.range(around)
          range if range && range.begin == call.range.begin && @source.alone?(range)
        end

        def condition?(node)
          CONDITIONS.include?(node.type) && node.first_lineno == node.last_lineno
        end

        # Adds parentheses around the arguments, which a call within an expression needs.
        def parenthesized(code)
          code.sub(/\A(\w+) (.*)\z/, '\1(\2)')
        end

        def commented(text, note)
          indent = text[/\A[ \t]*/]
          lines = text.lines(chomp: true).map { |line| "#{indent}# #{line.delete_prefix(indent)}".rstrip }
          ["#{indent}# #{sentence(note)}:", *lines].join("\n")
        end

        # Adds a comment above the line where `range` begins.
        def remark(range, note)
          start = @source.lines(range).begin
          indent = @source.slice(start...range.begin)[/\A[ \t]*/]
          edit(start...start, "#{indent}# #{note}.\n")
        end

        # Returns the note with a capital letter, unless it begins with a name such as request_timeout.
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
