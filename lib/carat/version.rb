# frozen_string_literal: true

module Carat
  # The version of this gem.
  VERSION = "0.1.0"

  # The URL of the repository. The URLs of its pages and issues begin with it.
  REPOSITORY = "https://git.example/carat/carat"
end
