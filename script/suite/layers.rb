# frozen_string_literal: true

# Checks that the edge knows no Ruby: its dependencies name neither magnus nor rb-sys.
tree = IO.popen(%w[cargo tree --locked -p carat-edge -e normal,build --prefix none], &:read)
abort "cargo tree failed" unless Process.last_status.success?

ruby = tree.scan(/^(?:magnus|rb-sys)\S* v\S+/).uniq
abort "carat-edge depends on #{ruby.join(", ")}" if ruby.any?
puts "carat-edge: #{tree.lines.uniq.size} crates, none of them of Ruby"
