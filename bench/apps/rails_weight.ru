# frozen_string_literal: true

# A Rails application with 20 models in SQLite, whose page creates garbage as pages do: it reads records and renders
# them. With `?gc=100` every hundredth request of a worker runs a full collection.
require "logger" # Rails 6.1 and 7.0 use it without saying so
require "active_record/railtie"
require "action_controller/railtie"
require "action_view/railtie"
require "tmpdir"
require_relative "worker_field"

# bench/run sets it. Started by hand, the application has a directory of its own.
ENV["DATABASE_URL"] ||= "sqlite3:#{File.join(Dir.mktmpdir("rails-weight-"), "shop.sqlite3")}"

class Shop < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.cache_classes = true
  config.eager_load = true
  config.hosts = nil
  config.secret_key_base = "secret" * 10
  config.logger = Logger.new($stdout)
  config.log_level = :error
  config.consider_all_requests_local = false
  routes.append do
    root to: "shelves#index"
    get "compiled", to: "shelves#compiled"
    get "garbage", to: "shelves#garbage"
  end
end

Shop.initialize!

MODELS = %w[Author Book Shelf Reader Loan Fine Branch City Country Publisher Edition Language Genre Review Rating Event
            Ticket Invoice Payment Message].freeze
ROWS = 100

ActiveRecord::Schema.verbose = false
ActiveRecord::Schema.define do
  MODELS.each do |name|
    create_table(name.tableize, force: true) do |table|
      table.string :title, null: false
      table.text :note
      table.integer :count, default: 0
      table.references :parent
      table.timestamps
    end
  end
end

MODELS.each do |name|
  Object.const_set(name, Class.new(ActiveRecord::Base) do
    belongs_to :parent, class_name: MODELS[MODELS.index(name) - 1], optional: true
    validates :title, presence: true, length: { maximum: 200 }
    scope :counted, -> { where("count > 0") }
    before_save { self.note ||= "Of #{title}" }
  end)
end

MODELS.each do |name|
  now = Time.now
  Object.const_get(name).insert_all!(Array.new(ROWS) do |n|
    { title: "#{name} number #{n}", note: "#{name} " * 20, count: n, parent_id: n, created_at: now, updated_at: now }
  end)
end

class ShelvesController < ActionController::Base
  prepend_view_path File.join(__dir__, "rails_weight")

  @served = Hash.new(0)

  class << self
    attr_reader :served
  end

  def index
    render plain: "#{MODELS.size} models\n"
  end

  # How many methods the JIT of this process has compiled.
  def compiled
    yjit = defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled? ? RubyVM::YJIT.runtime_stats : {}
    render plain: yjit.fetch(:compiled_iseq_count, 0).to_s
  end

  def garbage
    @models = MODELS
    @records = Object.const_get(MODELS[rand(MODELS.size)]).counted.order(:id).limit(50).includes(:parent).to_a
    render
    GC.start if full_collection_due?
  end

  private

  def full_collection_due?
    interval = params[:gc].to_i
    served = ShelvesController.served[Process.pid] += 1
    interval.positive? && (served % interval).zero?
  end
end

use WorkerField
run Shop
