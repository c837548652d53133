/**
 * What a run keeps of its configuration, for `LearnConfig` to read: runs of versions that had no other precision do not say
 * theirs. Anything but an object stays as it is.
 */
export const keptConfig = (learn: unknown): unknown =>
  typeof learn === 'object' && learn !== null ? { precision: 'float32', ...learn } : learn
