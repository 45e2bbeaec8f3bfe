# frozen_string_literal: true

# The second database: writes go to it, reads to its replica.
class EntriesController < ApplicationController
  skip_forgery_protection

  def create
    Entry.create!(text: params.require(:text))
    head :created
  end

  def index
    found = ArchiveRecord.connected_to(role: :reading) { [Entry.order(:id).pluck(:text), writable?] }
    render json: { texts: found.first, writable: found.last, primary: Item.connection_db_config.name }
  end

  private

  def writable?
    Entry.create!(text: "replica")
    true
  rescue ActiveRecord::ReadOnlyError
    false
  end
end
