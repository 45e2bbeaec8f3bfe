# frozen_string_literal: true

require "digest/sha2"
require "fileutils"
require "json"
require "open3"
require "tmpdir"

module Bench
  # An archive as `docker save` writes it, made of a directory: for machines without a registry.
  module KubernetesImage
    module_function

    # What the archive says beside its only layer, by name.
    # digest: that of the layer; settings: what a Dockerfile sets, such as "Cmd"
    def manifest(tag, digest, settings)
      config = JSON.generate("architecture" => "amd64", "os" => "linux", "config" => settings,
                             "rootfs" => { "type" => "layers", "diff_ids" => ["sha256:#{digest}"] })
      name = "#{Digest::SHA256.hexdigest(config)}.json"
      { name => config,
        "manifest.json" => JSON.generate([{ "Config" => name, "RepoTags" => [tag], "Layers" => ["layer.tar"] }]) }
    end

    # Writes the archive of a directory.
    def write(archive, tag, root, settings)
      FileUtils.mkdir_p(File.dirname(archive))
      Dir.mktmpdir("image", File.dirname(archive)) do |work|
        layer = File.join(work, "layer.tar")
        tar("--numeric-owner", "--create", "--file", layer, "--directory", root, ".")
        manifest(tag, Digest::SHA256.file(layer).hexdigest, settings).each do |name, text|
          File.write(File.join(work, name), text)
        end
        tar("--create", "--file", archive, "--directory", work, *Dir.children(work))
      end
    end

    # The image of a pod's first container.
    def write_pause(archive, program)
      Dir.mktmpdir("pause") do |root|
        FileUtils.cp(program, File.join(root, "pause"))
        File.chmod(0o755, root)
        write(archive, KubernetesFiles::PAUSE, root, "Entrypoint" => ["/pause"])
      end
    end

    # Makes an archive an image of the node; to be called inside of its namespaces.
    def import(archive) = ctr("images", "import", archive)

    # Whether ctr succeeds with the images and containers of the kubelet.
    def ctr(*words)
      system("ctr", "--address", KubernetesFiles::CONTAINERD, "--namespace", "k8s.io", *words,
             %i[out err] => File::NULL)
    end

    def tar(*words)
      output, status = Open3.capture2e("tar", *words)
      raise Failure, "tar: #{output}" unless status.success?
    end
  end
end
