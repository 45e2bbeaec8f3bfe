# frozen_string_literal: true

desc "Pack the compiled parts of all Rubies in build/ into a platform gem in pkg/"
task native: :compile do
  ruby "script/platform_gem/main.rb"
end
