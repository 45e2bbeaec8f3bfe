// Sockets of Rails' own client of Action Cable, which subscribe to RoomChannel and connect again by themselves:
//
//   node action_cable.cjs actioncable.js ws://127.0.0.1:3000/cable 1000
//
// actioncable.js is the main file of the npm package @rails/actioncable. A line of standard input is a command: `state`,
// or `tell TEXT`, which the first socket tells all. The answer to each is a line of JSON: how many are subscribed, how
// many connections have ended, and how many sockets have heard the last text.
const { createInterface } = require("node:readline")

const [path, url, count] = process.argv.slice(2)
const { adapters, createConsumer } = require(path)
const OPENED_AT_ONCE = 50
const PAUSE_MS = 50

// A browser tells the client when its page becomes visible.
globalThis.addEventListener ??= () => {}
globalThis.removeEventListener ??= () => {}

// In production, Rails redirects what has not come by TLS.
adapters.WebSocket = class extends WebSocket {
  constructor(address, protocols) {
    super(address, { protocols, headers: { "X-Forwarded-Proto": "https" } })
  }
}

const sockets = []
let disconnects = 0
let told = null

function open() {
  const socket = { isSubscribed: false, heard: null }
  socket.subscription = createConsumer(url).subscriptions.create("RoomChannel", {
    connected() { socket.isSubscribed = true },
    disconnected() { socket.isSubscribed = false; disconnects += 1 },
    received(text) { socket.heard = text },
  })
  sockets.push(socket)
}

function openAll() {
  for (let opened = 0; opened < OPENED_AT_ONCE && sockets.length < Number(count); opened += 1) open()
  if (sockets.length < Number(count)) setTimeout(openAll, PAUSE_MS)
}

function state() {
  return {
    subscribed: sockets.filter((socket) => socket.isSubscribed).length,
    disconnects,
    heard: sockets.filter((socket) => told !== null && socket.heard === told).length,
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  if (line.startsWith("tell ")) {
    told = line.slice("tell ".length)
    sockets[0].subscription.perform("tell", { text: told })
  }
  process.stdout.write(`${JSON.stringify(state())}\n`)
}).on("close", () => process.exit(0))
openAll()
