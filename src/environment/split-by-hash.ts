import { sha256, type Split } from '../core/index.ts'

/**
 * The split that a name belongs to: by hash, so that no seed and no further name moves one.
 * @param percent how many of a hundred names train and validate; the others are held out.
 */
export function splitByHash(name: string, percent: { readonly train: number; readonly validation: number }): Split {
  const at = Number.parseInt(sha256(name).slice(0, 8), 16) % 100
  if (at < percent.train) return 'train'
  return at < percent.train + percent.validation ? 'validation' : 'holdout'
}
