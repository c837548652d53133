import { describe, expect, it } from 'vitest'
import { progressLine, pullProgress } from './pull-progress.ts'

describe('progressLine', () => {
  it.each([
    [{ file: 'a', done: 0, total: null }, null, 'a  0.0 MB'],
    [{ file: 'a', done: 120e6, total: 270e6 }, 12e6, 'a  120 of 270 MB, 12 MB/s, 13 s left'],
    [{ file: 'a', done: 0, total: 4e9 }, 1e6, 'a  0.0 of 4000 MB, 1.0 MB/s, 67 min left'],
    [{ file: 'a', done: 1e6, total: 2e6 }, 0, 'a  1.0 of 2.0 MB'],
  ])('%j at %s bytes a second', (progress, rate, line) => {
    expect(progressLine(progress, rate)).toBe(line)
  })
})

describe('pullProgress', () => {
  const follow = (isTTY: boolean) => {
    let text = ''
    let at = 0
    const progress = pullProgress({ isTTY, columns: 60, write: (part) => (text += part) }, () => at)
    for (; at <= 10_000; at += 1_000) progress.tell({ file: 'a', done: at * 2_000, total: 100e6 })
    progress.end()
    return text
  }

  it('writes few lines where no terminal is', () => {
    expect(follow(false)).toBe(
      'a  0.0 of 100 MB\na  10 of 100 MB, 2.0 MB/s, 45 s left\na  20 of 100 MB, 2.0 MB/s, 40 s left\n',
    )
  })

  it('moves one line on a terminal, and clears it', () => {
    const text = follow(true)
    expect(text).not.toContain('\n')
    expect(text.endsWith('\r\u001b[2K')).toBe(true)
    expect(text.split('\r').length).toBe(13)
  })
})
