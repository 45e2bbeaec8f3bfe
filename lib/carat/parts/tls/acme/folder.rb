# frozen_string_literal: true

require "fileutils"
require "json"
require_relative "account_key"
require_relative "acme_error"
require_relative "issued_certificate"

module Carat
  module ACME
    # What is kept of one authority: the key of the account, and a folder for each name. Nobody else may read it.
    class Folder
      MODE = 0o700
      FILE_MODE = 0o600
      TEXT_LIMIT = 1024 * 1024
      private_constant :FILE_MODE, :MODE, :TEXT_LIMIT

      def initialize(path)
        @path = path
      end

      # Yields while no other server that has the folder asks the authority; returns false when another one does.
      # Raises ACMEError when nothing can be kept.
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

      # Returns the AccountKey, a new one at first.
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

      # Returns what #keep_status kept, a Hash; empty at first.
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

      # Keeps when the certificate expires, when the authority is asked next, and why there is no certificate. Times
      # are seconds.
      def keep_status(name, **status)
        write("#{name}/status.json", JSON.generate(status))
      end

      # Keeps what answers the authority while the block runs. `file` is the Validation's.
      def answer(name, (file, content))
        write("#{name}/#{file}", content)
        yield
      ensure
        FileUtils.rm_f(File.join(@path, name, file))
      end

      private

      # Returns the content, or nil.
      def read(name)
        File.open(File.join(@path, name), File::RDONLY | File::NONBLOCK) { |file| file.read(TEXT_LIMIT) }
      rescue Errno::ENOENT
        nil
      end

      # A reader sees the old content or the new one, after a power failure, too.
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
