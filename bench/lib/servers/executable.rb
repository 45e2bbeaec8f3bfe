# frozen_string_literal: true

module Bench
  # A program on the PATH.
  module Executable
    # One sentence that says that the program is missing, or nil.
    def self.obstacle(name, package) = ("#{name} is not on the PATH (#{package})" unless present?(name))

    # The first line that the command prints.
    def self.first_line(*command) = IO.popen([*command, { err: %i[child out] }], &:readlines).first.to_s.strip

    def self.present?(name)
      ENV.fetch("PATH").split(File::PATH_SEPARATOR).any? { |folder| File.executable?(File.join(folder, name)) }
    end
  end
end
