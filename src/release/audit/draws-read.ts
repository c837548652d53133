import { type AuditDraw, type CanaryId, JUDGE_ALONE, type Repositories } from '../../core/index.ts'

/**
 * The draws of one canary as they are now, with their labels: what was read stays in memory, and only blocks of them are read
 * again in which something was drawn, said, taken back or erased. So what a look reads grows with what came since the last
 * one. Of one reader at a time.
 */
export class DrawsRead {
  #of: CanaryId | null = null
  readonly #blocks = new Map<number, { readonly mark: string; readonly draws: readonly AuditDraw[] }>()

  /**
   * @returns in the order in which their sessions began; those that only a judge is asked about among them.
   * @throws StoreError
   */
  async all({ audits }: Pick<Repositories, 'audits'>, canary: CanaryId): Promise<readonly AuditDraw[]> {
    if (this.#of !== canary) this.#blocks.clear()
    this.#of = canary
    // Marks before draws: what comes between is read now, and once more by the next look.
    const marks = await audits.marks(canary)
    for (const { block, mark } of marks) {
      if (this.#blocks.get(block)?.mark === mark) continue
      this.#blocks.set(block, { mark, draws: await audits.forJudge(canary, block) })
    }
    return marks.flatMap(({ block }) => this.#blocks.get(block)?.draws ?? [])
  }
}

/** Whether its truth is asked for, and not a judge's word alone. */
export const asksForTruth = ({ id }: Pick<AuditDraw, 'id'>): boolean => !id.startsWith(JUDGE_ALONE)
