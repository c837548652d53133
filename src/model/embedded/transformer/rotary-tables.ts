import { type Rope, type RopeScaling, type TransformerConfig, isSliding } from './config.ts'

/** Which rotary tables a layer reads: those of the sliding layers are apart where these have a rope of their own. */
export type RopeName = 'global' | 'sliding'

export const ropeName = (config: TransformerConfig, layer: number): RopeName =>
  config.sliding?.rope !== undefined && isSliding(config, layer) ? 'sliding' : 'global'

/** The rotary positions that a model's layers have. */
export function ropes({ ropeTheta, ropeScaling, sliding }: TransformerConfig): ReadonlyMap<RopeName, Rope> {
  const global: Rope = { theta: ropeTheta, ...(ropeScaling && { scaling: ropeScaling }) }
  return new Map<RopeName, Rope>([['global', global], ...(sliding?.rope ? [['sliding', sliding.rope] as const] : [])])
}

/** What the graphs call the tables of a rope. */
export const tableNames = {
  global: { cos: 'cos', sin: 'sin' },
  sliding: { cos: 'cos.sliding', sin: 'sin.sliding' },
} as const satisfies Record<RopeName, { cos: string; sin: string }>

/**
 * Cosines and sines of the rotary angles: row p, column i holds the angle p · (frequency i); each table is
 * `[positions, headDim / 2]`, row-major. Angles are computed in float64 and rounded once.
 */
export function rotaryTables(
  positions: number,
  headDim: number,
  { theta, scaling }: Rope,
): { readonly cos: Float32Array; readonly sin: Float32Array } {
  const half = headDim / 2
  const cos = new Float32Array(positions * half)
  const sin = new Float32Array(positions * half)
  for (let column = 0; column < half; column++) {
    const plain = theta ** ((-2 * column) / headDim)
    const frequency = scaling === undefined ? plain : scaled(plain, scaling)
    for (let position = 0; position < positions; position++) {
      cos[position * half + column] = Math.cos(position * frequency)
      sin[position * half + column] = Math.sin(position * frequency)
    }
  }
  return { cos, sin }
}

function scaled(frequency: number, scaling: RopeScaling): number {
  const slow = frequency / scaling.factor
  if (scaling.type === 'linear') return slow
  const { lowFrequencyFactor: low, highFrequencyFactor: high, originalMaxPositions } = scaling
  const turns = (originalMaxPositions * frequency) / (2 * Math.PI)
  const kept = Math.min(1, Math.max(0, (turns - low) / (high - low)))
  return kept * frequency + (1 - kept) * slow
}
