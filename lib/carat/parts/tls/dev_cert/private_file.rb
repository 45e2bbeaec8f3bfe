# frozen_string_literal: true

module Carat
  module CLI
    class DevCert
      # A file that only its owner may read, at any time.
      module PrivateFile
        module_function

        # Writes the file anew: another process may have the old one open.
        def write(path, text)
          File.unlink(path) if File.file?(path) || File.symlink?(path)
          File.open(path, File::WRONLY | File::CREAT | File::EXCL, 0o600) { |file| file.write(text) }
        end
      end
    end
  end
end
