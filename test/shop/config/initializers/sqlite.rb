# frozen_string_literal: true

# Asks a locked database again after a pause. With `timeout`, and before Rails 8.0, SQLite would pause with the GVL, so
# the thread that holds the database could not go on.
module PatientSQLite
  PAUSE_SECONDS = 0.001

  private

  def configure_connection
    super
    (@raw_connection || @connection).busy_handler { sleep(PAUSE_SECONDS) || true }
  end
end

ActiveSupport.on_load(:active_record) do
  require "active_record/connection_adapters/sqlite3_adapter"
  ActiveRecord::ConnectionAdapters::SQLite3Adapter.prepend(PatientSQLite)
end
