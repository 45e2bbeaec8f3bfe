# frozen_string_literal: true

# Adds a header with the id of the process to each response.
class WorkerField
  NAME = "x-worker"

  def initialize(app)
    @app = app
  end

  def call(env)
    status, headers, body = @app.call(env)
    headers[NAME] = Process.pid.to_s
    [status, headers, body]
  end
end
