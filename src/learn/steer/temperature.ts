/** The factor of one change. */
const change = 1.15
/** Success above which groups are uniform because nearly all succeed. */
const mastered = 0.9

/** What a batch showed, and within which bounds its temperature may move. */
export interface Warmth {
  /** Sampling temperature of the batch. */
  readonly temperature: number
  readonly lowest: number
  readonly highest: number
  /** Groups that differed in reward, sampling on included, and how many are wanted. */
  readonly informative: number
  readonly wanted: number
  /** Rate of success over all tasks. */
  readonly overall: number
}

/**
 * The temperature of the next batch: higher where attempts at a task all end alike and fail, so that they try other things;
 * lower again where enough groups differ.
 */
export function nextTemperature({ temperature, lowest, highest, informative, wanted, overall }: Warmth): number {
  if (overall >= mastered) return Math.max(lowest, temperature / change)
  if (informative < wanted) return Math.max(lowest, Math.min(highest, temperature * change))
  return informative >= 1.5 * wanted ? Math.max(lowest, temperature / change) : temperature
}
