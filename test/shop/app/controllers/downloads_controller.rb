# frozen_string_literal: true

class DownloadsController < ApplicationController
  FILE = Rails.root.join("public/numbers.txt")

  def file
    send_file FILE
  end

  def page
    send_file FILE, type: "text/plain", disposition: "inline", filename: "r\u00e9sum\u00e9 1.txt"
  end

  def data
    send_data File.binread(FILE), filename: "numbers.bin", type: "application/octet-stream"
  end

  def missing
    send_file Rails.root.join("nowhere")
  end
end
