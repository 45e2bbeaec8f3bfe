# frozen_string_literal: true

# What a worker is made of.
class WorkersController < ApplicationController
  def show
    render json: { pid: Process.pid, loaded_by: Item::LOADED_BY, isolation: isolation,
                   generation: defined?(Carat) && Carat.stats[:generation] }
  end

  def count
    Item.transaction { Item.create!(name: "counted") }
    render json: { pid: Process.pid, items: Item.count, pool: ApplicationRecord.connection_pool.stat }
  end

  private

  def isolation
    Rails.version >= "7.0" ? ActiveSupport::IsolatedExecutionState.isolation_level : :thread
  end
end
