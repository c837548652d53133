/** Tells people something beside what a command prints: on standard error. */
export const sayAside = (line: string): void => void process.stderr.write(`${line}\n`)
