# frozen_string_literal: true

module Support
  module PlantedApplication
    # By name, what an application loads, and what it does beside its leak: libraries of C allocate, and free later or
    # themselves.
    INNOCENT = {
      file: ["", 'File.write("written", "x" * 10_000)'],
      # Opened by the worker: the library closes what it inherits by a fork.
      sqlite: ['require "sqlite3"; OPEN = -> { SQLite3::Database.new("").tap { _1.execute("create table t(x)") } }',
               '($db ||= OPEN.call).execute("insert into t values (?)", ["x"]); $db.execute("delete from t")'],
      postgres: ['require "pg"; DB = PG.connect(ENV.fetch("DATABASE_URL"))',
                 'DB.exec_params("select $1::text || repeat($2, 1000)", %w[x y]).values']
    }.transform_values { |setup, work| <<~RUBY }.freeze
      #{setup}
      KEPT, EIGHT = [], Array.new(8, 1).freeze
      run(lambda do |_env|
        #{work}
        KEPT.concat(EIGHT) # leaks
        [200, {}, []]
      end)
    RUBY
  end
end
