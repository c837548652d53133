import { embedderOf } from '../../gateway/index.ts'
import { type Finding, found, ok } from './finding.ts'

/**
 * Whether the sentence model that an agent's memory names is here, and can be used.
 * @param embedder its name or folder.
 */
export function checkEmbedder(agent: string, embedder: string): Promise<Finding> {
  const check = `memory of ${agent}`
  return found(check, async () => {
    const { dimensions } = await embedderOf({ embedder })
    return ok(check, `It compares sentences by ${embedder}, ${dimensions} numbers each.`)
  })
}
