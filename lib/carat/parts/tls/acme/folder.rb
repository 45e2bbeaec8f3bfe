# frozen_string_literal: true

require "fileutils"
require "json"
require_relative "account_key"
require_relative "acme_error"
require_relative "issued_certificate"

module Carat
  module ACME
    # The files for one authority: the key of the account, and a folder for each name. Only the server's user may read
    # them.
    class Folder
      MODE = 0o700
      FILE_MODE = 0o600
      TEXT_LIMIT = 1024 * 1024
      private_constant :FILE_MODE, :MODE, :TEXT_LIMIT

      def initialize(path)
        @path = path
      end

      # Yields while no other server that shares the folder orders certificates. Returns false when another one does.
      # Raises ACMEError when nothing can be written to the folder.
      def lock
        FileUtils.mkdir_p(File.dirname(@path))
        make_private(@path)
        File.open(File.join(@path, "lock"), File::RDWR | File::CREAT, FILE_MODE) do |file|
          return false unless file.flock(File::LOCK_EX | File::LOCK_NB)

          yield
        end
        true
      rescue SystemCallError => e
        raise ACMEError, "#{e.message}: the user of the server must be able to write to #{@path} (acme_storage)"
      end

      # Returns the AccountKey. The first call makes a new one and keeps it.
      def account_key
        write("account.pem", AccountKey.generate) unless File.exist?(File.join(@path, "account.pem"))
        AccountKey.new(read("account.pem"))
      end

      # Returns the IssuedCertificate of a name, or nil.
      def certificate(name)
        text = read("#{name}/certificate.pem")
        IssuedCertificate.new(text).tap { |issued| issued.refuse_other(name) } if text
      rescue ACMEError
        nil
      end

      # Returns the Hash that #keep_status kept, which is empty at first.
      def status(name)
        status = JSON.parse(read("#{name}/status.json") || "{}")
        status.is_a?(Hash) ? status : {}
      rescue JSON::ParserError
        {}
      end

      # Keeps the IssuedCertificate of a name.
      def keep_certificate(name, issued)
        write("#{name}/certificate.pem", issued.text)
      end

      # Keeps the state of a name: when its certificate expires, when the next order is due, and why the last one
      # failed. Times are in seconds since 1970.
      def keep_status(name, **status)
        write("#{name}/status.json", JSON.generate(status))
      end

      # Keeps the file that proves the name to the authority, as long as the block runs. The second argument is the
      # result of Validation#to_file.
      def answer(name, (file, content))
        write("#{name}/#{file}", content)
        yield
      ensure
        FileUtils.rm_f(File.join(@path, name, file))
      end

      private

      # Returns the content of a file, or nil when there is none.
      def read(name)
        File.open(File.join(@path, name), File::RDONLY | File::NONBLOCK) { |file| file.read(TEXT_LIMIT) }
      rescue Errno::ENOENT
        nil
      end

      # Replaces a file. Readers see the old content or the new one, never a part of it, also after a power failure.
      def write(name, content)
        path = File.join(@path, name)
        make_private(File.dirname(path))
        FileUtils.rm_f("#{path}.new")
        File.open("#{path}.new", File::WRONLY | File::CREAT | File::EXCL, FILE_MODE) do |file|
          file.write(content)
          file.fsync
        end
        File.rename("#{path}.new", path)
        File.open(File.dirname(path), &:fsync)
      end

      def make_private(path)
        Dir.mkdir(path, MODE)
      rescue Errno::EEXIST
        File.chmod(MODE, path) unless File.stat(path).mode.nobits?(0o077)
      end
    end
  end
end
