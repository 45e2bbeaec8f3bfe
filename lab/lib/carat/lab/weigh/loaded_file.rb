# frozen_string_literal: true

module Carat
  module Lab
    module Weigh
      # A file that was loaded, and what it has allocated that nobody has freed. `parent` and `children` are
      # LoadedFiles; `also_by` are paths of other files that require it.
      LoadedFile = Struct.new(:path, :gem, :failed, :parent, :children, :also_by, :weight) do
        # The Weight of the file with all files that it loaded.
        def inclusive
          @inclusive ||= children.map(&:inclusive).reduce(weight, :+)
        end
      end
    end
  end
end
