# frozen_string_literal: true

require_relative "chat"

run Chat.new(page: File.read(File.join(__dir__, "page.html"), encoding: "UTF-8"))
