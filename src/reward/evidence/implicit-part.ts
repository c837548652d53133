import { z } from 'zod'
import { parseInput, type Trajectory } from '../../core/index.ts'
import { allImplicitKinds, ImplicitKind, implicitKinds, implicitSignals } from '../implicit/index.ts'
import { readingsVersion } from '../implicit/kinds.ts'
import type { RewardPart } from '../part.ts'

/** How what nobody reported is read. */
export const ImplicitReading = z.strictObject({
  /** What each kind is worth instead of its own value; `false`: it is not looked for. */
  kinds: z.partialRecord(ImplicitKind, z.union([z.literal(false), z.number().min(-1).max(1)])).default({}),
  /** When silence begins to speak: nothing is `abandoned` before. */
  abandonedAfterMinutes: z.number().positive().default(30),
  /** What the part is multiplied by. */
  weight: z.number().positive().default(1),
})
export type ImplicitReading = z.infer<typeof ImplicitReading>

/**
 * A part from what people did with the answers, in [-1, 1] times its weight; `null` where behaviour says nothing. It is
 * derived from the trajectory itself, so no client has to report it, and none can: a signal that a client calls `accepted`
 * is not read here. Each kind counts once an episode, at its worst, and the kinds are added: more turns earn no more. A
 * guess: it gives way to what was told.
 * @param factors what kinds' worths are multiplied by.
 */
export function implicit(options: z.input<typeof ImplicitReading> = {}, factors: Factors = {}): RewardPart {
  const { pays, identity, weight } = implicitPays(options, factors)
  return {
    identity,
    evidence: 'guessed',
    score(trajectory, _signals, asOf) {
      const paid = pays(trajectory, asOf)
      if (paid.size === 0) return null
      const sum = [...paid.values()].reduce((total, worth) => total + worth, 0)
      return weight * Math.min(1, Math.max(-1, sum))
    },
  }
}

/** What the worth of signals is multiplied by, by the name that {@link signalPays} gives them; 1 unless it is said. */
export type Factors = Readonly<Record<string, number>>

/** The name of a kind of behaviour among all signals: no reported one is called so. */
export const behaviourName = (kind: ImplicitKind): string => `implicit/${kind}`

/** What each kind of behaviour that was seen in an episode pays, before the sum is cut and weighed. */
export function implicitPays(options: z.input<typeof ImplicitReading>, factors: Factors = {}) {
  const { kinds, abandonedAfterMinutes, weight } = parseInput(ImplicitReading, options, 'The reading of behaviour')
  const worths = allImplicitKinds.flatMap((kind) => {
    const worth = kinds[kind] ?? implicitKinds[kind].value
    return worth === false ? [] : [[kind, worth * (factors[behaviourName(kind)] ?? 1)] as const]
  })
  const worthOf = new Map<ImplicitKind, number>(worths)
  const wanted = worths.map(([kind]) => kind)
  return {
    weight,
    identity: `implicit:${JSON.stringify([worths, abandonedAfterMinutes, weight, { readings: readingsVersion }])}`,
    pays: (trajectory: Trajectory, asOf: number): ReadonlyMap<ImplicitKind, number> => {
      const worst = new Map<ImplicitKind, number>()
      const abandonedAfter = abandonedAfterMinutes * 60_000
      for (const { name, value } of implicitSignals(trajectory, asOf, { kinds: wanted, abandonedAfter })) {
        const kind = name as ImplicitKind
        // The value of `edited` tells how much was changed; the other kinds have one value only.
        const extent = kind === 'edited' ? Math.abs(Number(value)) : 1
        const worth = (worthOf.get(kind) ?? 0) * extent
        worst.set(kind, Math.min(worth, worst.get(kind) ?? worth))
      }
      return worst
    },
  }
}
