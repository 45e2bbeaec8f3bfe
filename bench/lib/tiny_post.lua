-- A POST of two bytes in chunks, as often as the server answers it; wrk's own requests have a Content-Length.
dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "report.lua")

local post = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"

request = function()
  return post
end
