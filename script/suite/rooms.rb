# frozen_string_literal: true

require "tsort"
require_relative "rust_modules"

module Suite
  # Checks the imports within a crate: no circle between the files or folders of one folder, and in the edge no import
  # of a room above.
  class Rooms
    # From the top. A module of the edge that is not named here is at the bottom, and imports none of these.
    EDGE = %w[main parts admin supervise].freeze

    # @param src [String] the crate's src folder, or that of a module that is built for tests only
    # @param rooms [Array<String>] its rooms from the top
    # @param module_name [String, nil] the name of that module
    def initialize(src, rooms: [], module_name: nil)
      @src = src
      @rooms = rooms
      @imports = RustModules.new(src, module_name).imports
    end

    # @return [Array<String>] a sentence for each wrong import
    def failures
      upward + circles
    end

    private

    def upward
      @imports.select { |import| rank(import.to) < rank(import.from) }.map do |import|
        below, above = [import.from, import.to].map { |file| room(file) }
        "#{where(import)} imports #{import.path}, but #{below} is below #{above}: " \
          "a room imports only rooms below it"
      end
    end

    def rank(file)
      @rooms.index(room(file)) || @rooms.size
    end

    def room(file)
      file[%r{\A[^/.]+}]
    end

    def where(import)
      "#{@src}/#{import.from}:#{import.line}"
    end

    # Files and folders that lie in the same folder and import each other, directly or by way of others.
    def circles
      siblings.flat_map do |folder, edges|
        graph = edges.group_by(&:first).transform_values { |found| found.map { |_from, to, _import| to }.uniq }
        components(graph).select { |component| component.size > 1 }.map { |circle| describe(folder, circle, edges) }
      end
    end

    def siblings
      edges = @imports.map { |import| sibling_edge(import) }
      edges.group_by(&:first).transform_values { |found| found.map { |edge| edge.drop(1) } }
    end

    # The folder in which the two part, what each is called there, and the import.
    def sibling_edge(import)
      from, to = [import.from, import.to].map { |file| place(file) }
      depth = from.zip(to).take_while { |a, b| a == b }.size
      [from.first(depth).join("/"), from[depth], to[depth], import]
    end

    # A module with a folder of its own is in that folder, with its children.
    def place(file)
      folder = file.delete_suffix(".rs")
      File.directory?(File.join(@src, folder)) ? [*folder.split("/"), File.basename(file)] : file.split("/")
    end

    def components(graph)
      children = ->(node, &block) { graph.fetch(node, []).each(&block) }
      TSort.strongly_connected_components(graph.keys.method(:each), children)
    end

    def describe(folder, circle, edges)
      inside = edges.select { |from, to, _import| circle.include?(from) && circle.include?(to) }
      steps = inside.uniq { |from, to, _import| [from, to] }.map do |from, to, import|
        "  #{from} imports #{to}: #{where(import)} names #{import.path}"
      end
      "#{File.join(@src, folder)}: #{circle.sort.join(", ")} import each other in a circle, " \
        "so none can be read or tested without the others\n#{steps.join("\n")}"
    end
  end
end
