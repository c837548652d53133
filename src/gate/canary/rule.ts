export type CanaryAction = 'hold' | 'advance' | 'promote' | 'roll-back' | 'give-up'

/** A row of the truth table. */
export interface Rule {
  readonly holds: boolean
  readonly action: CanaryAction
  readonly reason: string
}
