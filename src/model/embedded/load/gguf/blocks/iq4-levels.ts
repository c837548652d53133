/** The sixteen levels, not evenly spaced, that a nibble of IQ4_NL and IQ4_XS names. */
export const iq4Levels = Int8Array.of(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)
