/** What `ratchet export` writes. */
export const exportFormats = ['atif', 'verifiers', 'sft', 'dpo', 'grpo'] as const
export type ExportFormat = (typeof exportFormats)[number]

/** What `ratchet import` reads. */
export const importFormats = ['atif', 'verifiers'] as const
export type ImportFormat = (typeof importFormats)[number]
