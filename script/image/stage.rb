# frozen_string_literal: true

require "fileutils"

module Image
  # A stage of a Dockerfile: a root file system, and what the next command in it has.
  class Stage
    NAMESPACE = %w[unshare --mount --propagation private].freeze
    CONTAINER = [*NAMESPACE, "--pid", "--fork", "--kill-child"].freeze
    MOUNT = 'mount --bind "$root" "$root"; mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"; '
    READ_ONLY = 'for path in tmp var/tmp app/tmp; do if [ -d "$root/$path" ]; then ' \
                'mount -t tmpfs -o mode=1777 tmpfs "$root/$path"; fi; done; ' \
                'mount -o remount,bind,ro "$root"; '
    ENTER = 'exec chroot --userspec="$user" "$root" "$@"'
    PATH = "/usr/local/bundle/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    private_constant :NAMESPACE, :CONTAINER, :MOUNT, :READ_ONLY, :ENTER, :PATH

    # The root's directory, ENV, and the user and the directory of commands.
    attr_reader :root, :variables
    attr_accessor :user, :directory

    # @param root [String] an empty directory
    # @param from [String, Stage] the directory of a root, or another stage
    def initialize(root, from)
      @root = root
      @variables = from.is_a?(Stage) ? from.variables.dup : { "PATH" => PATH, "LANG" => "C.UTF-8" }
      @directory = from.is_a?(Stage) ? from.directory : "/"
      @user = "0:0"
      run_on_host("cp", "-a", "--reflink=auto", "#{from.is_a?(Stage) ? from.root : from}/.", root)
    end

    # Runs a shell command with further variables; aborts when it fails.
    def run(command, more = {})
      system(*enter(["sh", "-c", command], more), exception: true)
    end

    # Starts a program as the first process of a container, in a root that cannot be written to. Its output goes to the
    # file `log`.
    # @return [Integer] the id of a process that ends with its status; the program is the child
    def start(program, log, more = {})
      command = enter(program, more, namespace: CONTAINER, before: READ_ONLY)
      Process.spawn(*command, %i[out err] => [log, "w"], in: File::NULL)
    end

    # Copies a file, or what is in a directory, to `target` as COPY does.
    def copy(source, target, owner: nil)
      path = File.join(@root, File.expand_path(target, @directory))
      path = File.join(path, File.basename(source)) if File.file?(source) && target.end_with?("/")
      FileUtils.mkdir_p(File.directory?(source) ? path : File.dirname(path))
      run_on_host("cp", "-a", "-T", File.directory?(source) ? "#{source}/." : source, path)
      run_on_host("chown", "-R", owner, path) if owner
    end

    private

    def enter(program, more, namespace: NAMESPACE, before: "")
      variables = @variables.merge("HOME" => @user == "0:0" ? "/root" : "/app", **more).map { |pair| pair.join("=") }
      [{ "root" => @root, "user" => @user }, *namespace, "sh", "-euc", MOUNT + before + ENTER, "_",
       "env", "-i", *variables, "sh", "-c", 'cd "$1" && shift && exec "$@"', "_", @directory, *program]
    end

    def run_on_host(*command)
      system(*command, exception: true)
    end
  end
end
