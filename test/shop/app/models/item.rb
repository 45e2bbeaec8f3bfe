# frozen_string_literal: true

class Item < ApplicationRecord
  # The process that has loaded this file.
  LOADED_BY = Process.pid
end
