# frozen_string_literal: true

require_relative "native_path"

elsewhere = Carat::NativePath.elsewhere
raise LoadError, "carat: #{elsewhere}" if elsewhere

require "carat/native.so"
