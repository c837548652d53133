import type { TransformerConfig } from '../transformer/config.ts'
import type { GridShape } from './grid.ts'

/** Bytes that the kept shares of all layers may take. */
const most = 128 * 2 ** 20

/** Whether the shares of attention of such a batch, in float32, are few enough to be kept for the way back. */
export const keepsShares = (
  { layers, heads }: Pick<TransformerConfig, 'layers' | 'heads'>,
  { batch, nodes, keys }: GridShape,
): boolean => 4 * layers * heads * batch * nodes * keys <= most
