import { stripVTControlCharacters } from 'node:util'

/** Narrower screens get lines as they are. */
const narrowest = 40

/** Text whose lines are broken between words, so that none is wider than the screen. A word that is wider stays whole. */
export function wrapped(text: string, columns: number): string {
  if (!(columns >= narrowest)) return text
  return text
    .split('\n')
    .map((line) => wrappedLine(line, columns))
    .join('\n')
}

/** What goes on is indented as its line is, and two more. */
function wrappedLine(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line
  // Lines of a tree begin with its branches.
  const [lead = ''] = /^[ │├└─]*/.exec(stripVTControlCharacters(line)) ?? []
  const indent = `${lead.replace(/[├└─]/g, ' ').slice(0, Math.floor(columns / 2))}  `
  const lines: string[] = []
  let current: string | null = null
  for (const word of line.split(' ')) {
    const next: string = current === null ? word : `${current} ${word}`
    if (current === null || widthOf(next) <= columns || current.trim() === '') current = next
    else {
      lines.push(current)
      current = `${indent}${word}`
    }
  }
  return [...lines, current ?? ''].join('\n')
}

const widthOf = (line: string): number => stripVTControlCharacters(line).length
