# frozen_string_literal: true

require "etc"
require_relative "../../config/config_error"

module Carat
  module Launch
    # The user that the server becomes: `user` and `group` of the configuration. As a part of MoldEnvironment it sets
    # the variables that a login of the user would set.
    class Identity
      # `configuration` is a Configuration, `euid` the user id of this process.
      def initialize(configuration, _environment = ENV, euid: Process.euid)
        @user, @group, @environment = %i[user group environment].map { |name| configuration[name] }
        @euid = euid
        @entry = entry
      end

      # Returns the user id of the server.
      def uid
        changes? ? target : @euid
      end

      # Returns what the edge needs to become the user: a Hash, or nil without a change of user. Raises ConfigError
      # when that is impossible.
      def to_h
        refuse("group: needs user as well") if @group && !@user
        refuse("user: #{obstacle}") if @user && !allowed?

        { user: @entry&.name, uid: target, gid: } if changes?
      end

      # Returns a Hash of Strings by name.
      def variables
        return {} unless changes? && @entry

        { "HOME" => @entry.dir, "USER" => @entry.name, "LOGNAME" => @entry.name }
      end

      # Returns what is wrong with a server that runs as root, or nil; in development, nothing is.
      def warning
        return if @user || !@euid.zero? || @environment == "development"

        "the server runs as root: set user to one without privileges, or start carat as such a user"
      end

      private

      # Root need not become root.
      def changes?
        !@user.nil? && @euid.zero? && !target.zero?
      end

      def allowed?
        @euid.zero? || target == @euid
      end

      def obstacle
        return "only root can start a server of root: start carat as root, or leave user out" if target.zero?

        "only root can become #{@user}: start carat as root or as #{@user}"
      end

      def target
        @entry ? @entry.uid : Integer(@user, 10)
      end

      def gid
        if @group
          numeric?(@group) ? Integer(@group, 10) : Etc.getgrnam(@group).gid
        else
          @entry&.gid || refuse("user: #{@user} is unknown to this machine: set group as well")
        end
      end

      # The row of the user database; nil for a number that is not in it.
      def entry
        return if @user.nil?

        numeric?(@user) ? Etc.getpwuid(Integer(@user, 10)) : Etc.getpwnam(@user)
      rescue ArgumentError
        nil
      end

      def numeric?(name)
        name.match?(/\A\d+\z/)
      end

      def refuse(reason)
        raise Config::ConfigError, reason
      end
    end
  end
end
