# frozen_string_literal: true

# Uploads through ActiveStorage: the form sends a file, or the id of a blob that was uploaded directly.
class PhotosController < ApplicationController
  def create
    redirect_to photo_path(Photo.create!(params.require(:photo).permit(:title, :file)))
  end

  def show
    redirect_to url_for(Photo.find(params[:id]).file)
  end

  # The file goes in a thread of the pool of ActiveJob's async adapter.
  def destroy
    Photo.find(params[:id]).file.purge_later
    head :accepted
  end
end
