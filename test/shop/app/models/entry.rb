# frozen_string_literal: true

class Entry < ArchiveRecord
end
