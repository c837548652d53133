/** What a Tinker client tells of, beside its results: waiting that a person should see, and what a server cannot do. */
export type TinkerEvent =
  /** The server holds a request back. It is waited for, however long; told again for each answer that says so. */
  | {
      readonly type: 'paused'
      readonly request: string
      readonly reason: 'capacity' | 'rate-limit'
      /** The server's own words. */
      readonly detail: string | null
      readonly waitedMs: number
    }
  /** A request that was held back goes on. */
  | { readonly type: 'resumed'; readonly request: string; readonly waitedMs: number }
  /** A request, or the question for its result, is sent again. */
  | { readonly type: 'retried'; readonly request: string; readonly attempt: number; readonly why: string }
  /** Something was asked for that this protocol or this server cannot do; the work goes on without it. Told once each. */
  | { readonly type: 'ignored'; readonly option: string; readonly why: string }
  /** The server keeps something that nobody needs, because it could not be deleted. */
  | { readonly type: 'left'; readonly what: string; readonly why: string }
  /** A sign of life was not answered; a server gives a session up after some minutes without one. */
  | { readonly type: 'heartbeat-failed'; readonly why: string }

/** Takes events; it must not throw. */
export type OnTinkerEvent = (event: TinkerEvent) => void
