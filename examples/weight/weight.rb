# frozen_string_literal: true

require "sinatra/base"
require_relative "process_weight"
require_relative "stock"

# Keeps 40 MB, and creates garbage on request.
class Weight < Sinatra::Base
  # Makes some 5000 objects, like a page of a busy application.
  ROWS = 500

  set :environment, :production
  disable :logging, :show_exceptions, :dump_errors, :protection, :static

  get "/" do
    content_type :text
    "#{Stock::ALL.sum(&:size)} groups of objects\n"
  end

  # With `?gc=100`, every hundredth request of this worker runs a full collection.
  get "/garbage" do
    content_type :text
    bytes = make_garbage
    GC.start if full_collection_due?
    "#{bytes}\n"
  end

  get "/gc" do
    GC.start
    content_type :text
    "#{GC.count}\n"
  end

  # The private and shared memory of this worker.
  get "/weight" do
    content_type :text
    ProcessWeight.new.to_s
  end

  @served = Hash.new(0)

  class << self
    # Counts a request of this process, and returns their number.
    def count_request
      @served[Process.pid] += 1
    end
  end

  private

  def full_collection_due?
    interval = params["gc"].to_i
    served = self.class.count_request
    interval.positive? && (served % interval).zero?
  end

  def make_garbage
    rows = Array.new(ROWS) { |n| { id: n, name: "row #{n}", tags: ["a#{n}", "b#{n}"], note: "x" * 60 } }
    rows.sum { |row| row.to_a.join(",").bytesize }
  end
end
