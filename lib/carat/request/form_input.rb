# frozen_string_literal: true

module Carat
  module Request
    # What `rack.input` is, too, when the edge has taken files out of it: to parse it again begins with a rewind.
    module FormInput
      attr_writer :form_files

      # As IO#rewind.
      def rewind
        @form_files.rewind
        super
      end
    end
  end
end
