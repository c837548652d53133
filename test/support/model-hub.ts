import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What goes wrong with a file: the first answers are cut after so many bytes, or every one has other content. */
export interface Fault {
  readonly cutAfter?: number
  /** Sends nothing more instead, and keeps the connection. */
  readonly stalls?: boolean
  /** How many answers are cut; default all. */
  readonly times?: number
  readonly content?: Uint8Array
  /** Answers the whole file, whatever range is asked for. */
  readonly ignoresRanges?: boolean
}

/** What a server was asked. */
export interface Asked {
  readonly path: string
  readonly range: string | null
  readonly authorization: string | null
}

/** A stand-in for a Hugging Face hub, or for a registry of packages: files by path, on this machine. */
export class ModelHub {
  readonly asked: Asked[] = []
  readonly #server: Server
  readonly #files = new Map<string, Uint8Array>()
  readonly #faults = new Map<string, Fault & { left: number }>()
  #token: string | null = null
  #statuses: number[] = []
  #elsewhere: ModelHub | null = null

  private constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response))
  }

  static async start(): Promise<ModelHub> {
    const hub = new ModelHub()
    await new Promise<void>((resolve) => hub.#server.listen(0, '127.0.0.1', resolve))
    return hub
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  /** Serves a file, at any path. */
  put(path: string, content: Uint8Array | string): void {
    this.#files.set(path, typeof content === 'string' ? new TextEncoder().encode(content) : content)
  }

  /** Serves a repository at one commit: large files by SHA-256, as a hub has them, the others by git's hash. */
  putModel(repository: string, files: Readonly<Record<string, Uint8Array | string>>): string {
    const commit = createHash('sha1')
      .update(JSON.stringify(Object.keys(files)))
      .digest('hex')
    this.put(`/api/models/${repository}/revision/main`, JSON.stringify({ sha: commit }))
    const tree = Object.entries(files).map(([path, content]) => {
      const bytes = Buffer.from(content)
      this.put(`/${repository}/resolve/${commit}/${path}`, bytes)
      const oid = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
      const lfs = { oid: createHash('sha256').update(bytes).digest('hex'), size: bytes.length }
      return { type: 'file', path, size: bytes.length, oid, ...(/\.(gguf|safetensors)$/.test(path) ? { lfs } : {}) }
    })
    this.put(
      `/api/models/${repository}/tree/${commit}`,
      JSON.stringify([{ type: 'directory', path: 'x', size: 0, oid: '' }, ...tree]),
    )
    return commit
  }

  /** Makes the files whose path ends so go wrong. */
  fail(ending: string, fault: Fault): void {
    this.#faults.set(ending, { ...fault, left: fault.times ?? Number.POSITIVE_INFINITY })
  }

  /** Every request needs this token. */
  require(token: string): void {
    this.#token = token
  }

  /** Answers the next requests with these statuses. */
  answer(...statuses: number[]): void {
    this.#statuses = statuses
  }

  /** Leads who asks for a file to another server, as hubs do. */
  redirectFilesTo(other: ModelHub): void {
    this.#elsewhere = other
    for (const [path, content] of this.#files) if (path.includes('/resolve/')) other.put(path, content)
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = new URL(request.url ?? '/', 'http://x').pathname
    const { range = null, authorization = null } = request.headers
    this.asked.push({ path, range, authorization })
    const status = this.#statuses.shift()
    if (status !== undefined) return void response.writeHead(status, { 'retry-after': '0' }).end()
    if (this.#token !== null && authorization !== `Bearer ${this.#token}`) return void response.writeHead(401).end()
    if (this.#elsewhere !== null && path.includes('/resolve/'))
      return void response.writeHead(302, { location: this.#elsewhere.url + path }).end()
    const content = this.#files.get(path)
    if (content === undefined) return void response.writeHead(404).end()
    this.#send(path, content, range, response)
  }

  #send(path: string, whole: Uint8Array, range: string | null, response: ServerResponse): void {
    const fault = [...this.#faults].find(([ending]) => path.endsWith(ending))?.[1]
    const content = fault?.content ?? whole
    const start = fault?.ignoresRanges ? 0 : Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0)
    if (start >= content.length && start > 0)
      return void response.writeHead(416, { 'content-range': `bytes */${content.length}` }).end()
    const part = content.subarray(start)
    response.writeHead(start > 0 ? 206 : 200, {
      'content-length': part.length,
      ...(path.startsWith('/simple/') ? { 'content-type': 'text/html' } : {}),
      ...(start > 0 ? { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` } : {}),
    })
    const cut = fault?.cutAfter !== undefined && fault.left > 0 ? fault.cutAfter : null
    if (cut === null || cut >= part.length) return void response.end(part)
    if (fault) fault.left--
    // A moment, so that the client has read what came before.
    response.write(part.subarray(0, cut), () => fault?.stalls || setTimeout(() => response.destroy(), 10))
  }
}
