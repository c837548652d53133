/** Results as one HTML file: see report.mjs. */
export function renderReport(results: unknown): string
