# frozen_string_literal: true

require_relative "native_path"
require "carat/native.so"
