/** The seven projections of a block, by short name. */
export const projections = ['q', 'k', 'v', 'o', 'gate', 'up', 'down'] as const

export type Projection = (typeof projections)[number]
