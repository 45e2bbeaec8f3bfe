# frozen_string_literal: true

require "carat/log/relative_path"
require_relative "in_worker/native_stacks"

module Carat
  module Lab
    module Leak
      # A line at which memory grows: bytes and objects a request, what is kept there (a Hash of class names and their
      # share of the objects, or the container that grows), the path from a root to one of the objects, and the stack of
      # C below the line, from the inside. `block_sizes` is for free memory that grows between blocks of the line.
      Site = Struct.new(:file, :line, :bytes_per_request, :objects_per_request, :classes, :container, :path, :stack,
                        :block_sizes, keyword_init: true) do
        # Returns the Sites of what GrowthTrace#sites has found in rounds of so many requests, the largest first.
        def self.gather(lines, containers, requests)
          filled = containers.group_by { |row| row.values_at(:file, :line) }
          sites = lines.map { |row| from(row, filled.delete(row.values_at(:file, :line)) || [], requests) }
          sites += filled.values.map { |rows| from(nil, rows, requests) }
          sites.select { |site| site.bytes_per_request > Site::NOISE_BYTES }.sort_by { |site| -site.bytes_per_request }
        end

        # A container's memory grows in steps, its content does not: where one grows, the weakest round of the line is
        # that without a step. In a round in which the line shrinks, another line has taken the step.
        def self.from(line, containers, requests)
          rounds = line ? line.fetch(:bytes) : [0]
          bytes = containers.empty? ? median(rounds) : rounds.reject(&:negative?).min || 0
          bytes += containers.sum { |row| median(row.fetch(:bytes)) }
          line ||= { **containers.first, objects: [0], classes: {} }
          # An object that some request has left there, such as an exception, is not what grows.
          line = { **line, classes: {}, path: nil } unless median(line.fetch(:objects)).positive?
          new(file: line[:file], line: line[:line], bytes_per_request: bytes.fdiv(requests),
              objects_per_request: median(line.fetch(:objects)).fdiv(requests),
              classes: line.fetch(:classes).transform_keys(&:to_s), container: containers.first&.fetch(:class),
              path: (containers.first || line).fetch(:path), block_sizes: line.fetch(:block_sizes, []),
              stack: line.fetch(:stack, []).map { |frame| NativeStacks.describe(*frame) })
        end

        # Where it is, for readers.
        def place
          file ? "#{Log::RelativePath.of(file)}:#{line}" : "(no line of the application)"
        end

        # What grows there.
        def growth
          return "free memory between blocks of #{block_sizes.join(", ")} bytes" unless block_sizes.empty?

          kinds = classes.sort_by { |_, count| -count }.first(3).map(&:first)
          grows = "#{container} grows" if container
          kinds.empty? && grows.nil? ? "memory of C" : [*kinds, *grows].join(", ")
        end

        # Why it is kept: the functions of C that have allocated it, or the path from a root.
        def reasons
          frames = classes.empty? && container.nil? ? stack.map { |frame| "in #{frame}" } : []
          [*frames, *(path && "kept by #{path.join(" > ")}")]
        end

        # Returns a Hash for JSON.
        def report
          { "file" => file, "line" => line, "bytes_per_request" => bytes_per_request.round(2),
            "objects_per_request" => objects_per_request.round(3), "classes" => classes,
            "container" => container, "path" => path, "stack" => stack, "block_sizes" => block_sizes }
        end

        def self.median(values)
          sorted = values.sort
          (sorted[(sorted.size - 1) / 2] + sorted[sorted.size / 2]) / 2.0
        end
        private_class_method :from, :median
      end

      # Less is not worth a line.
      Site::NOISE_BYTES = 0.5
    end
  end
end
