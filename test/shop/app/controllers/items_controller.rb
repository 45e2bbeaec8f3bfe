# frozen_string_literal: true

# Pages with a form, a session, a flash, and JSON.
class ItemsController < ApplicationController
  def index
    session[:visits] = session[:visits].to_i + 1
    cookies[:last] = "index"
    fresh_when etag: "constant" if params[:fresh]
  end

  def show
    item = Item.find(params[:id])
    respond_to do |format|
      format.html { render plain: item.name }
      format.json { render json: { name: item.name } }
    end
  end

  def create
    redirect_to item_path(Item.create!(params.require(:item).permit(:name))), notice: "Saved"
  end

  def update
    Item.find(params[:id]).update!(params.require(:item).permit(:name))
    head :no_content
  end

  def destroy
    reset_session
    redirect_to items_path, status: :see_other
  end
end
