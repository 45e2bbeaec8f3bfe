# frozen_string_literal: true

require_relative "raw_upload"
require_relative "upload_page"

use RawUpload
run UploadPage
