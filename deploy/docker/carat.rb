# frozen_string_literal: true

# Copy to the root of a Rails 8 application, beside the Dockerfile. docs/deploy.md explains it.

# In place of bin/jobs: Solid Queue's processes share the memory of the web. stop_timeout is longer than Solid Queue's
# own shutdown_timeout, and shorter than the time that Docker allows. With overlap, new processes run before the old
# ones end, so no recurring task is skipped.
process "jobs", overlap: true, stop_timeout: "25s", only: :production do
  SolidQueue::Supervisor.start
end
