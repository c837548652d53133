/** Names of what a run of the inference graph feeds and returns besides weights. */
export const ports = {
  tokens: 'tokens',
  positions: 'positions',
  pad: 'pad',
  unpad: 'unpad',
  mask: 'mask',
  spans: 'spans',
  rows: 'rows',
  temperature: 'temperature',
  pastKey: (layer: number) => `past.${layer}.key`,
  pastValue: (layer: number) => `past.${layer}.value`,
  newKey: (layer: number) => `new.${layer}.key`,
  newValue: (layer: number) => `new.${layer}.value`,
  probabilities: 'probabilities',
  correction: 'correction',
  states: 'states',
} as const
