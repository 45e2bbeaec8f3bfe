# frozen_string_literal: true

require "io/console"
require_relative "../../lab/profile/branch"
require "carat/log/counted"
require "carat/log/relative_path"
require "carat/cli/units"
require "carat/cli/printable"
require_relative "../unnamed_functions"

module Carat
  module CLI
    class Profile
      # Formats a profile for readers: a tree of calls, the heaviest first.
      class Text
        # Columns of the tree where there is no terminal.
        WIDTH = 160
        NARROWEST = 60

        # A branch that has almost all of the weight above it is not indented: stacks are deep, and terminals narrow.
        CHAIN = 0.98
        HEAD = "  share        all        own  call"
        NOTHING = "There is no sample: take a longer profile, or a smaller --sampling."
        FREED = "Nothing that was looked at is still there: take a longer profile, or a smaller --sampling."
        private_constant :WIDTH, :NARROWEST, :CHAIN, :HEAD, :NOTHING, :FREED

        # `report` is a Lab::Profile::Report, `measure` a member of the tree's Weights; branches below `cut` percent are
        # left out. `out` is the IO that the text is for.
        def initialize(report, measure, cut:, inverted:, out:)
          @report = report
          @measure = measure
          @cut = cut / 100.0
          @root = Lab::Profile::Branch.public_send(inverted ? :inverted : :outward, report.tree, measure)
          @width = width(out)
          @functions = [] # of C, that the tree shows
        end

        # Returns the text; control characters of a terminal are escaped.
        def to_s
          lines = tree
          [*summary, *UnnamedFunctions.remark(@functions), "", *lines].map { |line| Printable.text(line) }.join("\n")
        end

        # Sentences about the profile.
        def summary
          details = @report.details
          requests = Log::Counted.of(details[:requests].to_i, "request")
          lines = ["#{weight(@root.inclusive)} #{kind} in #{details[:seconds]} s and #{requests}" \
                   "#{rate(details[:requests].to_i)}"]
          samples = Log::Counted.of(details[:samples].to_i, "sample")
          lines << "From #{samples}, one in #{interval(details)}: an estimate."
          lines + remarks(details)
        end

        private

        # Bytes for which a sample stands.
        def interval(details)
          first, last = details.values_at(:sampling_bytes, :sampling_bytes_at_end)
          last.to_i > first ? "#{Units.bytes(first)}, in the end one in #{Units.bytes(last)}" : Units.bytes(first)
        end

        def width(out)
          columns = out.tty? ? out.winsize.last : WIDTH
          [columns, NARROWEST].max
        end

        def kind
          live = @measure.start_with?("live") ? "allocated and still live" : "allocated"
          @measure.end_with?("objects") ? "objects #{live}" : live
        end

        def rate(requests)
          requests.positive? ? ", #{weight(@root.inclusive / requests)} a request" : ""
        end

        def remarks(details)
          { "The worker was replaced: this is what was seen until then." => details[:replaced],
            "Interrupted: this is what was seen until then." => details[:interrupted],
            "Memory of C is missing: the allocator is not Carat's." => !details[:native],
            "The profile reached a limit: the rest is in (further calls)." => details[:truncated] }
            .select { |_, is_so| is_so }.keys
        end

        def weight(number)
          @measure.end_with?("objects") ? number.to_s : Units.bytes(number)
        end

        # Without recursion: stacks may be deep.
        def tree
          return [nothing] unless @root.inclusive.positive?

          lines = [HEAD]
          waiting = shown(@root, 0)
          while (branch, depth = waiting.shift)
            lines << line(branch, depth)
            waiting = shown(branch, depth + 1) + waiting
          end
          lines
        end

        def nothing
          @report.details[:samples].to_i.positive? ? FREED : NOTHING
        end

        # The heavy branches below, with their depths.
        def shown(branch, depth)
          heavy = branch.children.select { |child| child.inclusive >= @root.inclusive * @cut }
          is_chain = branch.frame && heavy.size == 1 && heavy.first.inclusive >= branch.inclusive * CHAIN
          heavy.map { |child| [child, is_chain ? depth - 1 : depth] }
        end

        def line(branch, depth)
          share = 100.0 * branch.inclusive / @root.inclusive
          own = branch.own.positive? ? weight(branch.own) : ""
          call = "#{"  " * depth}#{label(branch.frame)}"
          line = format("%5.1f %%  %9s  %9s  %s", share, weight(branch.inclusive), own, call)
          line.length > @width ? "#{line[0, @width - 3]}..." : line
        end

        def label(frame)
          @functions << frame.name if frame.kind == "c"
          return frame.name unless frame.file
          return "#{frame.name} (#{File.basename(frame.file)})" unless frame.line

          "#{frame.name} #{Log::RelativePath.of(frame.file)}:#{frame.line}"
        end
      end
    end
  end
end
