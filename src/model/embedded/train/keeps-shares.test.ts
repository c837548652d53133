import { expect, it } from 'vitest'
import { keepsShares } from './keeps-shares.ts'

it('keeps 128 MiB of shares, and no more', () => {
  // 30 layers of 9 heads: 124,275 pairs of a query and a key.
  const smollm2 = { layers: 30, heads: 9 }
  expect(keepsShares(smollm2, { batch: 1, nodes: 352, keys: 352 })).toBe(true)
  expect(keepsShares(smollm2, { batch: 1, nodes: 353, keys: 353 })).toBe(false)
  expect(keepsShares(smollm2, { batch: 8, nodes: 100, keys: 150 })).toBe(true)
  expect(keepsShares(smollm2, { batch: 1, nodes: 2048, keys: 2048 })).toBe(false)
})
