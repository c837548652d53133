// A client's connection that costs as little as it can: HTTP/1.1, kept alive, one request at a time.
import { connect } from 'node:net'

const headEnd = Buffer.from('\r\n\r\n')
const lineFeed = 10

export class Connection {
  #socket
  #onFree
  #onGone
  /** What is called about the request under way; `null` when there is none. */
  #request = null
  /** Of the answer: bytes of an incomplete head or chunk size, what follows, and how much of it. */
  #kept = null
  #reading = 'head'
  #left = 0
  #chunked = false
  #status = 0

  /**
   * @param onFree called when an answer is over and the connection can be used again.
   * @param onGone called once, when it cannot be used any more.
   */
  constructor({ host, port }, { onFree, onGone }) {
    this.#onFree = onFree
    this.#onGone = onGone
    const buffer = Buffer.allocUnsafe(64 * 1024)
    const onread = { buffer, callback: (length) => this.#read(buffer.subarray(0, length)) }
    this.#socket = connect({ host, port, noDelay: true, onread })
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => {
      const request = this.#request
      this.#request = null
      this.#onGone(this)
      request?.end(0, 'the connection was closed')
    })
  }

  /** @param request `first()` at the first byte of the answer's body; `end(status, body)` at its end, `body` of errors alone. */
  send(text, request) {
    this.#request = request
    this.#socket.write(text, 'latin1')
  }

  close() {
    this.#socket.destroy()
  }

  #read(incoming) {
    let bytes = incoming
    if (this.#kept) {
      bytes = Buffer.concat([this.#kept, incoming])
      this.#kept = null
    }
    let at = 0
    while (at < bytes.length) {
      const next = this.#advance(bytes, at)
      if (next === null) {
        this.#kept = Buffer.from(bytes.subarray(at))
        break
      }
      at = next
    }
    return true
  }

  /** Reads one part of the answer; `null` when more bytes are needed. */
  #advance(bytes, at) {
    if (this.#reading === 'head') return this.#head(bytes, at)
    if (this.#reading === 'size') return this.#size(bytes, at)
    const take = Math.min(this.#left, bytes.length - at)
    this.#left -= take
    if (this.#status !== 200)
      this.#request.error = (this.#request.error ?? '') + bytes.toString('latin1', at, at + take)
    if (this.#left === 0) {
      if (!this.#chunked || this.#reading === 'last') this.#over()
      else this.#reading = 'size'
    }
    return at + take
  }

  #head(bytes, at) {
    const end = bytes.indexOf(headEnd, at)
    if (end < 0) return null
    const head = bytes.toString('latin1', at, end).toLowerCase()
    this.#status = Number(head.slice(9, 12))
    this.#chunked = head.includes('transfer-encoding: chunked')
    this.#left = this.#chunked ? 0 : Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0)
    this.#reading = this.#chunked ? 'size' : 'body'
    if (!this.#chunked) {
      this.#request.first()
      if (this.#left === 0) this.#over()
    }
    return end + headEnd.length
  }

  #size(bytes, at) {
    const end = bytes.indexOf(lineFeed, at)
    if (end < 0) return null
    const size = Number.parseInt(bytes.toString('latin1', at, end), 16)
    if (size > 0) this.#request.first()
    // The empty line behind the chunk belongs to it.
    this.#reading = size > 0 ? 'body' : 'last'
    this.#left = size + 2
    return end + 1
  }

  #over() {
    const request = this.#request
    this.#request = null
    this.#reading = 'head'
    this.#onFree(this)
    request.end(this.#status, request.error)
  }
}
