-- A chunked POST of two bytes, as often as the server responds; the requests of wrk itself have a Content-Length.
dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "report.lua")

local post = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"

request = function()
  return post
end
