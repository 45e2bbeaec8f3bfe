# frozen_string_literal: true

module Carat
  module Lab
    # The version of the gem carat-lab.
    VERSION = "0.1.0"
  end
end
