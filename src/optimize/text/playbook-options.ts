import type { ReflectOptions } from './reflect-options.ts'

/** How a playbook is kept. */
export interface PlaybookOptions extends Omit<ReflectOptions, 'locked'> {
  /** Bullets at most. Default 40. */
  readonly bullets?: number
  /** Bytes of one bullet's words (UTF-8), at most. Default 400. */
  readonly bulletBytes?: number
}

type Optional = 'sessions' | 'feedback'

/** The options with their defaults. */
export type CompletePlaybook = Omit<Required<PlaybookOptions>, Optional> & {
  readonly [K in Optional]: PlaybookOptions[K] | undefined
}
