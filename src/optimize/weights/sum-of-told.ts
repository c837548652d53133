/** A sum of what each step tells of itself; `null` as soon as one tells nothing: a part of a sum would look like all of it. */
export const sumOfTold = (sum: number | null, told: number | null): number | null =>
  sum === null || told === null ? null : sum + told
