# frozen_string_literal: true

module Carat
  module Launch
    # The directories that may hold control sockets. A server takes the first directory of #to_a that it owns and
    # nobody else may write to; a command looks for servers in all of #searched.
    class ControlDirectories
      # The placeholder of the user id in a pattern.
      UID = "UID"
      # The directory for a service. Root creates it, or systemd with `RuntimeDirectory=carat`.
      SERVICE = "/run/carat"
      # The directory in the XDG_RUNTIME_DIR that systemd creates at login. It is searched by its path because a command
      # may run outside of the session, without the variable.
      SESSION = "/run/user/UID/carat"
      # The directory for users of systems without systemd.
      FALLBACK = "/var/tmp/carat-UID"
      # The name of the directory in XDG_RUNTIME_DIR.
      NAME = "carat"
      private_constant :UID, :SERVICE, :SESSION, :FALLBACK, :NAME

      # `uid` is the user of the server or of the command; `environment` is ENV or a Hash.
      def initialize(uid: Process.euid, environment: ENV)
        @uid = uid
        @environment = environment
      end

      # Returns the paths for a server of the user, the best first.
      def to_a
        [*session, SERVICE, FALLBACK.sub(UID, @uid.to_s)]
      end

      # Returns the directories that may hold the sockets of servers that the user may ask; for root, of the servers of
      # all users.
      def searched
        known = [*to_a, SESSION.sub(UID, @uid.to_s)]
        known += Dir.glob([SESSION, FALLBACK].map { |pattern| pattern.sub(UID, "*") }).sort if @uid.zero?
        known.uniq.select { |path| safe?(path) }
      end

      private

      # The directory in XDG_RUNTIME_DIR, or nil. The variable counts only if the directory is as the XDG Base Directory
      # Specification demands: the user owns it, and nobody else has access.
      def session
        path = @environment["XDG_RUNTIME_DIR"]
        return unless path&.start_with?("/")

        stat = File.lstat(path)
        File.join(path, NAME) if stat.directory? && stat.uid == @uid && stat.mode.nobits?(0o077)
      rescue SystemCallError
        nil
      end

      # Whether only the user, or root, can have put sockets there: anybody may create a directory in /var/tmp.
      def safe?(path)
        stat = File.lstat(path)
        stat.directory? && stat.mode.nobits?(0o022) && (stat.uid == @uid || @uid.zero?)
      rescue SystemCallError
        false
      end
    end
  end
end
