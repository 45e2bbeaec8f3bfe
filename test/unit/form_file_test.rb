# frozen_string_literal: true

require "fileutils"
require "test_helper"
require "tmpdir"
require "carat/native"
require "carat/form_file"

class FormFileTest < Minitest::Test
  CONTENT = "caf\xC3\xA9\n".b.freeze

  def setup
    @directory = Dir.mktmpdir
  end

  def teardown
    FileUtils.rm_r(@directory)
  end

  def test_form_file_is_a_tempfile
    file = form_file

    assert_kind_of Tempfile, file
    assert_equal [CONTENT, CONTENT.bytesize, CONTENT.bytesize], [file.read, file.size, file.length]
    file.rewind
    assert_equal CONTENT, IO.copy_stream(file, copy = StringIO.new.binmode).then { copy.string }
    assert_equal file.fileno, file.to_io.fileno
  end

  def test_form_file_has_no_name_until_it_is_asked_for_one
    file = form_file
    assert_empty [file.inspect, file.to_s, file.size, file.closed?, file.dup].then { names }

    assert_equal [File.basename(file.path)], names
    assert_match %r{\A#{@directory}/RackMultipart.*\.txt\z}, file.path
    assert_equal [file.path, "#<Carat::FormFile:#{file.path}>"], [file.to_path, file.inspect]
    assert_equal [1, 0o600], [names.size, File.stat(file.path).mode & 0o777]
  end

  def test_copies_have_the_content_and_outlive_the_original
    file = form_file
    copies = [file.dup, file.clone]
    file.close!
    contents = copies.map { |copy| copy.rewind && copy.read.b }
    assert_equal [[CONTENT] * 2, [CONTENT] * 2], [contents, copies.map { |copy| File.binread(copy.path) }]
    copies.each(&:close!)
    assert_empty names
  end

  def test_a_name_outlives_the_file_as_long_as_a_copy_has_it
    # A stack that ends keeps nothing alive.
    copies = Thread.new { form_file.tap(&:path).then { |file| [file.dup, file.clone] } }.value
    GC.start
    assert_equal [CONTENT] * 2, copies.map { |copy| File.binread(copy.path) }
    copies.each(&:close!)
    assert_empty names
  end

  def test_name_leads_to_the_file_itself
    file = form_file
    assert_equal CONTENT, File.binread(file.path)
    assert_equal file.stat.ino, File.stat(file).ino
    file.seek(0, :END)
    file << "more"
    file.flush
    assert_equal "#{CONTENT}more".b, File.binread(file)
  end

  def test_it_can_be_moved_and_copied
    moved, copied = %w[moved copied].map { |name| File.join(@directory, name) }
    file = form_file
    FileUtils.cp(file.path, copied)
    FileUtils.mv(file.path, moved)
    file.close!

    assert_equal [CONTENT, CONTENT, %w[copied moved]], [File.binread(moved), File.binread(copied), names.sort]
  end

  def test_closed_file_can_be_opened_again
    file = form_file
    file.read
    file.close
    assert_equal [true, CONTENT.bytesize, CONTENT], [file.closed?, file.size, File.binread(file.path)]

    assert_equal CONTENT, file.open.read.b
    refute_predicate file, :closed?
    assert_match(/\(closed\)>\z/, file.tap(&:close).inspect)
  end

  def test_close_and_unlink_leave_nothing
    [:close!, [:close, true], :unlink, :delete].each do |ending|
      named, unnamed = form_file, form_file
      named.path
      [named, unnamed].each { |file| file.public_send(*ending) }
      assert_equal [[], nil, nil], [names, named.path, unnamed.path]
    end
  end

  def test_unlinked_file_can_still_be_read
    file = form_file.tap(&:unlink)
    assert_equal [CONTENT, CONTENT.bytesize, "#<Carat::FormFile>"], [file.read, file.size, file.inspect]
    file.unlink
    file.close
    assert_empty names
  end

  def test_name_that_is_already_removed_is_no_error
    file = form_file
    File.unlink(file.path)
    file.close!
  end

  def test_file_that_was_created_with_a_name_is_copied
    file = form_file(source: File.open(File.join(@directory, "source"), "w+b").tap { |io| File.unlink(io) })
    assert_equal "caf", file.read(3)
    assert_equal CONTENT, File.binread(file.path)
    assert_equal [0o600, CONTENT[3..]], [File.stat(file.path).mode & 0o777, file.read]
    assert_equal file.stat.ino, File.stat(file.path).ino
  end

  def test_names_keep_only_the_extension_of_the_client
    { "a" => "", "../../b.tar.gz" => ".gz", "d.#{"x" * 200}" => ".#{"x" * 128}" }
      .each { |given, extension| assert_equal extension, File.extname(form_file(filename: given).path), given }
  end

  def test_missing_directory_is_an_error
    file = form_file
    FileUtils.rm_r(@directory)
    assert_raises(Errno::ENOENT) { file.path }
    Dir.mkdir(@directory)
  end

  def test_finalizer_removes_the_name_but_not_in_a_fork
    finished = <<~RUBY
      require "carat/native"
      require "carat/form_file"
      io = File.open(ARGV.first, File::RDWR | File::TMPFILE)
      file = Carat::FormFile.new(io, "x.txt", ARGV.first)
      file.path
      Process.wait(fork { exit })
      puts Dir.children(ARGV.first).size
    RUBY
    lib = File.expand_path("../../lib", __dir__)
    assert_equal "1\n", IO.popen([RbConfig.ruby, "-I", lib, "-e", finished, @directory], &:read)
    assert_empty names
  end

  private

  def form_file(filename: "caf\u00E9.txt", source: File.open(@directory, File::RDWR | File::TMPFILE | File::BINARY))
    source.binmode.write(CONTENT)
    source.rewind
    Carat::FormFile.new(source, filename, @directory)
  end

  def names
    Dir.children(@directory)
  end
end
