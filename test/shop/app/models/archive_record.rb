# frozen_string_literal: true

# The second database, and its replica.
class ArchiveRecord < ActiveRecord::Base
  self.abstract_class = true
  connects_to database: { writing: :archive, reading: :archive_replica }
end
