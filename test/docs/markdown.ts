/** A fenced code block of a Markdown document. */
export interface Block {
  /** First word of the info string, for example `ts`; empty when there is none. */
  readonly language: string
  /** The words after it, for example `check-only` or a file's name. */
  readonly flags: readonly string[]
  readonly content: string
  /** Line of the opening fence, from 1. */
  readonly line: number
  /** The paragraphs just before and just after the block. */
  readonly beside: string
}

/** What a document says that can be checked. */
export interface Markdown {
  readonly blocks: readonly Block[]
  /** Targets of links, outside code. */
  readonly links: readonly string[]
  /** Ids that links may point to, as GitHub makes them from headings. */
  readonly anchors: readonly string[]
}

/**
 * Reads the blocks, links and headings of a document.
 * @throws Error for a fence that is never closed.
 */
export function readMarkdown(text: string): Markdown {
  const lines = text.split('\n')
  const blocks: Omit<Block, 'beside'>[] = []
  const ends: number[] = []
  const prose: string[] = []
  for (let i = 0; i < lines.length; i++) {
    const [, fence, info = ''] = /^ {0,3}(`{3,}|~{3,})\s*(.*)$/.exec(lines[i] ?? '') ?? []
    if (fence === undefined) {
      prose[i] = lines[i] ?? ''
      continue
    }
    const close = lines.findIndex(
      (line, j) => j > i && line.trim().startsWith(fence) && line.trim().replaceAll(fence[0] ?? '', '') === '',
    )
    if (close === -1) throw new Error(`the code block of line ${i + 1} is never closed`)
    const [language = '', ...flags] = info.split(/\s+/)
    blocks.push({
      language,
      flags: flags.filter((flag) => flag !== ''),
      content: lines.slice(i + 1, close).join('\n'),
      line: i + 1,
    })
    ends.push(close)
    i = close
  }
  const outside = Array.from({ length: lines.length }, (_, i) => prose[i] ?? '')
  return {
    blocks: blocks.map((block, i) => ({ ...block, beside: beside(outside, block.line - 1, ends[i] ?? block.line) })),
    links: linksOf(outside.join('\n')),
    anchors: outside.flatMap((line) => anchorOf(/^#{1,6}\s+(.*)$/.exec(line)?.[1])),
  }
}

function beside(lines: readonly string[], open: number, close: number): string {
  const paragraph = (from: number, step: 1 | -1): string => {
    let i = from
    while (lines[i] === '') i += step
    const found: string[] = []
    for (; (lines[i] ?? '') !== ''; i += step) found.push(lines[i] ?? '')
    return (step === 1 ? found : found.toReversed()).join('\n')
  }
  return `${paragraph(open - 1, -1)}\n${paragraph(close + 1, 1)}`
}

function linksOf(prose: string): readonly string[] {
  const outsideCode = prose.replaceAll(/`[^`\n]*`/g, '')
  return [...outsideCode.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)].map(([, target = '']) => target)
}

function anchorOf(heading: string | undefined): readonly string[] {
  if (heading === undefined) return []
  const plain = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
  return [plain.trim().replaceAll(' ', '-')]
}
