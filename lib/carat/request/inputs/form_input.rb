# frozen_string_literal: true

module Carat
  module Request
    # Extends `rack.input` of a form whose files the edge has extracted: a rewind starts the files again, too.
    module FormInput
      attr_writer :form_files

      # Rewinds as IO#rewind.
      def rewind
        @form_files.rewind
        super
      end
    end
  end
end
