# frozen_string_literal: true

require "test_helper"
require "open3"
require_relative "../../../script/suite/generated"

# The files that are generated from the source.
class GeneratedTest < Minitest::Test
  FILES = Suite::Generated.files.freeze
  BASH = <<~'SH'
    . "$1"; shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _carat
    echo "${COMPREPLY[*]}"
  SH

  def test_each_file_is_as_the_source_has_it_today
    FILES.each do |path, text|
      assert_equal text, File.read(File.join(Suite::Generated::ROOT, path)), "#{path}: run rake docs"
    end
  end

  def test_each_file_for_users_is_in_the_gem
    packed = Dir.chdir(Suite::Generated::ROOT) { Gem::Specification.load("carat.gemspec").files }

    assert_empty FILES.keys.grep(%r{\Ashare/}) - packed
  end

  def test_bash_completes_subcommands_flags_and_words
    assert_equal "restart resume", complete("re")
    assert_equal "restart resume", complete("help", "re")
    assert_equal "--rounds", complete("leak", "--ro")
    assert_equal "--worker-idle-timeout --worker-requests --worker-age --worker-memory --workers", complete("--worker")
    assert_equal "text json", complete("--log-format", "")
    assert_equal "", complete("check", "config")
  end

  def test_manual_and_fish_have_each_option
    options = Carat.const_get(:Config)::Options.from(:flag)
    manual = FILES.fetch("share/man/man1/carat.1").delete("\\")
    fish = FILES.fetch("share/fish/vendor_completions.d/carat.fish")

    assert_empty(options.reject { |option| manual.include?(option.flag[2..]) })
    assert_empty(options.reject { |option| fish.include?(" -l #{option.flag[2..]} ") })
  end

  private

  def complete(*words)
    script = File.join(Suite::Generated::ROOT, "share/bash-completion/completions/carat")
    output, status = Open3.capture2("bash", "-c", BASH, "_", script, "carat", *words)
    assert_predicate status, :success?
    output.chomp
  end
end
