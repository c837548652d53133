import type { BlockFormat } from './block-format.ts'
import { iq2_xxs } from './iq2-xxs.ts'
import { iq4_nl } from './iq4-nl.ts'
import { iq4_xs } from './iq4-xs.ts'
import { q2_k } from './q2-k.ts'
import { q3_k } from './q3-k.ts'
import { q4_0 } from './q4-0.ts'
import { q4_1 } from './q4-1.ts'
import { q4_k } from './q4-k.ts'
import { q5_0 } from './q5-0.ts'
import { q5_1 } from './q5-1.ts'
import { q5_k } from './q5-k.ts'
import { q6_k } from './q6-k.ts'
import { q8_0 } from './q8-0.ts'

/** Every block format that can be read, by ggml's number of its type. */
export const blockFormats: ReadonlyMap<number, BlockFormat> = new Map([
  [2, q4_0],
  [3, q4_1],
  [6, q5_0],
  [7, q5_1],
  [8, q8_0],
  [10, q2_k],
  [11, q3_k],
  [12, q4_k],
  [13, q5_k],
  [14, q6_k],
  [16, iq2_xxs],
  [20, iq4_nl],
  [23, iq4_xs],
])
