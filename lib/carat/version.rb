# frozen_string_literal: true

module Carat
  # The version of this gem.
  VERSION = "0.1.0"

  # The address of the repository, whose pages and issues are below it.
  REPOSITORY = "https://git.example/carat/carat"
end
