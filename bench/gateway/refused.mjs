/** What went wrong in a run, in a few words; empty when nothing did. */
export function refused({ statuses, error, unfinished = 0, tooMany = false }) {
  const bad = Object.entries(statuses).filter(([status]) => status !== '200')
  return [
    ...bad.map(([status, count]) => `${count} × ${status === '0' ? 'broken connection' : status}`),
    ...(unfinished > 0 ? [`${unfinished} unfinished`] : []),
    ...(tooMany ? ['given up: more and more calls under way'] : []),
    ...(error ? [`(${error.slice(0, 120)})`] : []),
  ].join(', ')
}
