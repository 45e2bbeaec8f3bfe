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

        # A container's memory grows in steps, its content does not: where some grow, the weakest round of the line is
        # that without a step. In a round in which the line shrinks, another line has taken the step. More containers
        # than rounds take steps in each: what the objects of the line take is then the rest.
        def self.from(line, containers, requests)
          line ||= { **containers.first, bytes: [0], objects: [0], classes: {} }
          objects = median(line.fetch(:objects))
          # An object that some request has left there, such as an exception, is not what grows.
          line = { **line, classes: {}, path: nil } unless objects.positive?
          bytes = rest(line, containers) + containers.sum { |row| median(row.fetch(:bytes)) }
          new(file: line[:file], line: line[:line], bytes_per_request: bytes.fdiv(requests),
              objects_per_request: objects.fdiv(requests),
              classes: line.fetch(:classes).transform_keys(&:to_s), container: containers.first&.fetch(:class),
              path: (containers.first || line).fetch(:path), block_sizes: line.fetch(:block_sizes, []),
              stack: line.fetch(:stack, []).map { |frame| NativeStacks.describe(*frame) })
        end

        # Bytes of a line in a round, without those of containers that grow. Where the allocator does not show its
        # blocks, the line has less than its objects.
        def self.rest(line, containers)
          rounds = line.fetch(:bytes)
          of_objects = median(line.fetch(:objects)) * line.fetch(:object_bytes, 0)
          return line[:exact] ? median(rounds) : [median(rounds), of_objects].max if containers.empty?

          steady = rounds.reject(&:negative?).min || 0
          containers.sum { |row| row.fetch(:count, 1) } < rounds.size ? steady : [steady, of_objects].min
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
        private_class_method :from, :rest, :median
      end

      # Less is not worth a line.
      Site::NOISE_BYTES = 0.5
    end
  end
end
