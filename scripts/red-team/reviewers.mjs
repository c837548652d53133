/** People who label what an audit drew, and err now and then. */
const REVIEWERS = 'k_reviewers'
/** Share of labels that say the opposite of what is true. */
const REVIEWERS_ERR = 0.05

/** Reviewers judge all that waits. */
export async function label({ store, clock }, canary, truths, random) {
  let labels = 0
  for (const { id, trajectory, labels: said } of await store.audits.drawn(canary.id)) {
    if (said.length > 0) continue
    const right = truths.get(trajectory)
    const truth = random() < REVIEWERS_ERR ? 1 - right : right
    const label = { tenant: 'default', draw: id, reviewer: REVIEWERS, by: 'person', truth, note: '', at: clock.now() }
    await store.audits.label(label)
    labels++
  }
  return labels
}
