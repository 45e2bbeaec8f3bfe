# frozen_string_literal: true

desc "Fuzz one target or all for some seconds each, or replay an input: rake fuzz[guard,600]"
task :fuzz, %i[target limit] do |_task, arguments|
  ruby "script/suite/fuzz.rb", *arguments.values_at(:target, :limit).map(&:to_s)
end
