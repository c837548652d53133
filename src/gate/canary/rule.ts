export type CanaryAction = 'wait' | 'advance' | 'promote' | 'roll-back' | 'end'

/** A row of the truth table. */
export interface Rule {
  readonly holds: boolean
  readonly action: CanaryAction
  readonly reason: string
}
