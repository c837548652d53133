import pc from 'picocolors'

/** Tells people something beside what a command prints: on standard error. */
export const sayAside = (line: string): void => void process.stderr.write(`${pc.dim(line)}\n`)
