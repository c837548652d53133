export interface Act {
  readonly traits: readonly string[]
}

export class Policy {
  constructor(preferences: Iterable<readonly [trait: string, preference: number]>, rate: number)
  chances(acts: readonly Act[]): number[]
}
