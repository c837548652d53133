// Sends requests of conversations over as many connections as are needed, and notes when what happened.
import { bodiesOf, calls } from './conversation.mjs'
import { now } from './clock.mjs'
import { Connection } from './connection.mjs'

/** Numbers of requests: never the same twice in a process, so that the upstream's times can be told apart. */
let numbers = 0
let conversations = 0

export class Client {
  #at
  #token
  #sessions
  #body
  #free = []
  #open = new Set()
  /** By status; 0 for a connection that broke. */
  statuses = {}
  /** One of the errors. */
  error = null

  /**
   * @param target `host`, `port`, and the bearer `tokens` to use in turn, one a conversation.
   * @param work `stream`, the upstream's `answer`, and `sessions`: the share of conversations whose calls name their session;
   * the others are known by what they say.
   */
  constructor({ host, port, tokens }, { stream, answer, sessions }) {
    this.#at = { host, port }
    this.#token = (conversation) => tokens[conversation % tokens.length]
    this.#sessions = sessions
    this.#body = bodiesOf({ stream, answer })
  }

  /** A new conversation, to be called one call after another. */
  conversation() {
    const id = conversations++
    const named = (id * 0.6180339887498949) % 1 < this.#sessions
    const name = `${process.pid}-${id}`
    return {
      id: name,
      call: 0,
      head: [
        `POST /v1/chat/completions HTTP/1.1\r\nhost: ${this.#at.host}:${this.#at.port}\r\ncontent-type: application/json\r\n`,
        `authorization: Bearer ${this.#token(id)}\r\n`,
        named ? `ratchet-session: ${name}\r\n` : '',
        'content-length: ',
      ].join(''),
    }
  }

  /**
   * Makes a conversation's next call.
   * @param moments arrays `number`, `sent`, `first` and `end`, of which `slot` is filled in.
   * @param onEnd called with the conversation that goes on: this one, or a new one after its last call.
   */
  call(conversation, moments, slot, onEnd) {
    const number = numbers++
    const body = this.#body(conversation.id, conversation.call++, number)
    const connection = this.#free.pop() ?? this.#connect()
    moments.number[slot] = number
    moments.sent[slot] = now()
    connection.send(`${conversation.head}${body.length}\r\n\r\n${body}`, {
      error: undefined,
      first: () => {
        if (moments.first[slot] === 0) moments.first[slot] = now()
      },
      end: (status, error) => {
        moments.end[slot] = status === 200 ? now() : Number.NaN
        this.statuses[status] = (this.statuses[status] ?? 0) + 1
        if (status !== 200) this.error ??= `${status}: ${error?.slice(0, 300)}`
        onEnd(status === 200 && conversation.call < calls ? conversation : this.conversation())
      },
    })
  }

  #connect() {
    const connection = new Connection(this.#at, {
      onFree: (free) => this.#free.push(free),
      onGone: (gone) => {
        this.#open.delete(gone)
        this.#free = this.#free.filter((one) => one !== gone)
      },
    })
    this.#open.add(connection)
    return connection
  }

  close() {
    for (const connection of this.#open) connection.close()
  }
}
