/** Words of an instruction, without the marks around them. */
export const wordsOf = (instruction: string): readonly string[] =>
  instruction.split(/\s+/).flatMap((word) => word.replace(/^["'(]+|["'?!.,:;]+$/g, '') || [])

/** How many of the instructions have each word. */
export function usesOf(instructions: readonly string[]): ReadonlyMap<string, number> {
  const uses = new Map<string, number>()
  for (const instruction of instructions) {
    for (const word of new Set(wordsOf(instruction))) uses.set(word, (uses.get(word) ?? 0) + 1)
  }
  return uses
}
