# frozen_string_literal: true

require "fileutils"
require "test_helper"
require "carat/native_path"

# Which allocator the application's processes have, and what programs that they start inherit.
class PreloadedServerTest < Support::IntegrationTest
  # The allocator, and the two variables as the application and a program of its own see them.
  APP = <<~'RUBY'
    require "carat/native"
    variables = -> { %w[LD_PRELOAD CARAT_USER_PRELOAD].map { |name| ENV[name].inspect } }
    run(lambda do |_env|
      [200, {}, [[Carat::Native.allocator[:name], *variables.call, `env`[/^(?:LD_|CARAT_USER_)PRELOAD=.*/].inspect].join(" ")]]
    end)
  RUBY
  OPTION = <<~'RUBY'
    require "fiddle"
    mallctl = Fiddle::Function.new(Fiddle::Handle::DEFAULT["mallctl"], [Fiddle::TYPE_VOIDP] * 4 + [Fiddle::TYPE_SIZE_T],
                                   Fiddle::TYPE_INT)
    run(lambda do |_env|
      value, size = Array.new(2) { Fiddle::Pointer.malloc(8, Fiddle::RUBY_FREE) }
      size[0, 8] = [8].pack("q")
      mallctl.call("opt.dirty_decay_ms", value, size, nil, 0)
      [200, {}, [value[0, 8].unpack1("q").to_s]]
    end)
  RUBY

  def test_workers_have_jemalloc_and_their_programs_do_not_inherit_it
    assert_equal "jemalloc 5.3.0 nil nil nil", answer
  end

  def test_system_s_allocator_is_used_when_it_is_asked_for
    assert_match(/\Aglibc \S+ nil nil nil\z/, answer(args: %w[--allocator system]))
  end

  def test_options_of_the_user_overrule_carat_s
    assert_equal "500", serve(OPTION, workers: 1).get.body
    assert_equal "77", serve(OPTION, workers: 1, env: { "MALLOC_CONF" => "dirty_decay_ms:77" }).get.body
  end

  def test_a_path_with_a_space_is_not_preloaded_and_told
    server = server(app: APP, workers: 1, command: [RbConfig.ruby, "my gems/exe/carat"])
    copy_carat(server.directory.path)

    assert_match(/\Aglibc \S+ nil nil nil\z/, server.start.get.body)
    await_log(server, %r{^carat: \S*/my gems/\S+malloc\.so cannot be preloaded: })
    refute_match(/ld\.so/, server.log)
  end

  private

  # What a server needs, in another place.
  def copy_carat(directory)
    parts = ["lib", "exe", "build/#{Carat::NativePath::ABI}"]
    parts.each do |part|
      target = File.join(directory, "my gems", part)
      FileUtils.mkdir_p(File.dirname(target))
      FileUtils.cp_r(File.join(Carat::NativePath::ROOT, part), target)
    end
  end

  def answer(**options)
    serve(APP, workers: 1, **options).get.body
  end
end
