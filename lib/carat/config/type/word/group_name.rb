# frozen_string_literal: true

require_relative "user_name"

module Carat
  module Config
    module Type
      # The name of a group of this machine, or a group id.
      class GroupName < UserName
        private

        def find(name)
          Etc.getgrnam(name)
        end

        def noun
          "group"
        end
      end
    end
  end
end
