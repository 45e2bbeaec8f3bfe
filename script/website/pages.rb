# frozen_string_literal: true

require "fileutils"

module Website
  # The project's pages as the site has them: the Markdown files at the paths that they have in the checkout, so that
  # links between them stay as they are. Links to other files lead to the repository.
  class Pages
    ROOT = File.expand_path("../..", __dir__)
    # README.md is the first page.
    PATTERNS = %w[{README,CHANGELOG,CONTRIBUTING,SECURITY}.md docs/**/*.md examples/*/README.md lab/README.md
                  lab/docs/*.md].freeze
    IMAGES = "docs/images/*.svg"
    # A link, or an image of HTML. What is in code stays as it is.
    LINK = /(?<code>^```.*?^```|`[^`\n]*`)|(?<before>\[[^\]]*\]\()(?<target>[^)\s]+)(?<after>\))/m
    # Where a page says URL, a reader of the repository fills in its address, which a reader of the site does not see.
    STAND_IN = /(?<=clone |--git |git: "|; |# |`)URL(?=[ "`:\n])/
    # A picture for light and dark pages, as GitHub takes it: by the system's scheme. The site has a switch of its own.
    PICTURE = %r{<picture>.*?srcset="(?<dark>[^"]+)".*?src="(?<light>[^"]+)" alt="(?<alt>[^"]+)".*?</picture>}
    private_constant :LINK, :STAND_IN, :PICTURE

    # `address` is that of the repository, such as https://github.com/owner/carat; `revision` is the branch or tag to
    # which links to its files lead.
    def initialize(address, revision, root: ROOT)
      @address = address
      @revision = revision
      @root = root
    end

    # Returns the paths of the pages in the checkout.
    def paths
      @paths ||= PATTERNS.flat_map { |pattern| Dir.glob(pattern, base: @root) }.sort
    end

    # Writes pages and images into the folder `target`, in place of what is there.
    def write(target)
      FileUtils.rm_rf(target)
      paths.each { |path| put(File.join(target, path), text(path)) }
      Dir.glob(IMAGES, base: @root).each { |path| put(File.join(target, path), File.read(File.join(@root, path))) }
    end

    # Returns the text of a page. Raises when it has a link to a file that is not there.
    def text(path)
      adapted(File.read(File.join(@root, path))).gsub(LINK) do |whole|
        match = Regexp.last_match
        match[:code] ? whole : "#{match[:before]}#{place(path, match[:target])}#{match[:after]}"
      end
    end

    private

    # The text without what only a reader of the repository can use.
    def adapted(text)
      text.gsub(STAND_IN, @address)
          .gsub(PICTURE, '![\k<alt>](\k<light>#only-light)![\k<alt>](\k<dark>#only-dark)')
    end

    # Returns where a link of the page at `path` leads on the site. mkdocs checks those to pages.
    def place(path, target)
      return target if target.match?(/\A([a-z]+:|#)/)

      file, anchor = target.split("#", 2)
      found = File.expand_path(file, "/#{File.dirname(path)}").delete_prefix("/")
      return target if paths.include?(found) || File.fnmatch?(IMAGES, found)

      raise "#{path}: there is no #{target}" unless File.exist?(File.join(@root, found))

      kind = File.directory?(File.join(@root, found)) ? "tree" : "blob"
      ["#{@address}/#{kind}/#{@revision}/#{found}", *anchor].join("#")
    end

    def put(path, text)
      FileUtils.mkdir_p(File.dirname(path))
      File.write(path, text)
    end
  end
end
