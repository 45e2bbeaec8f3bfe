# frozen_string_literal: true

# Says in each answer which process gave it.
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
