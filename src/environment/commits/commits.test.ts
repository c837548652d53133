import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { devNull, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { trajectoryOf } from '../../../test/support/trajectories.ts'
import { Message, Task } from '../../core/index.ts'
import { testsPass } from '../../reward/index.ts'
import { CommitTaskData, tasksFromCommits, type TriedCall } from './index.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'commits-'))
  git('init', '--quiet')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function git(...args: string[]): string {
  const who = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', '-c', 'commit.gpgsign=false']
  const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' }
  return execFileSync('git', ['-C', folder, ...who, ...args], { env, encoding: 'utf8', stdio: 'pipe' }).trim()
}
function commit(message: string, files: Record<string, string>): string {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text)
  git('add', '--all')
  git('commit', '--quiet', '--no-verify', '-m', message)
  return git('rev-parse', 'HEAD')
}
const trying = (...calls: TriedCall[]) => ({ calls: () => calls })
const add = (...args: number[]): TriedCall => ({ call: 'add', args })
const plus = 'export function add(a, b) {\n  return a + b\n}\n'
const minus = plus.replace('+', '-')

describe('tasks from commits', () => {
  it('have a test that fails before and passes after, and keep what passed before', async () => {
    commit('Begin', { 'add.js': minus })
    const id = commit('add takes away\n\nIt shall add.', { 'add.js': plus })
    const { environment, tasks, skipped } = await tasksFromCommits(folder, trying(add(1, 2), add(5, 0), add(2, 2)))
    expect(skipped).toEqual([])
    const task = Task.parse(tasks[0])
    expect(tasks).toHaveLength(1)
    expect(task).toMatchObject({ id: `commit/${id}`, family: 'add.js' })
    expect(task.instruction).toContain('add takes away\n\nIt shall add.')
    expect(task.instruction).toContain('```js\nfunction add(a, b) {\n  return a - b\n}')
    const kept = { call: 'add', args: [5, 0], returns: 5 }
    expect(CommitTaskData.parse(task.data).known).toEqual([kept])

    const scoreOf = async (answer: string, at: '/tests' | '/known') => {
      const episode = environment.open(task, 0)
      expect(await episode.step({ kind: 'message', content: answer })).toEqual({ messages: [], done: true })
      const finalState = { ...(await episode.close()), counts: {} }
      const nodes = [{ id: 'a', message: Message.parse({ role: 'assistant', content: answer }) }]
      return testsPass({ tests: { at } }).score(trajectoryOf({ nodes, finalState }), [], 0)
    }
    const [right, before] = ['function add(a, b) { return a + b }', 'function add(a, b) { return a - b }']
    expect([await scoreOf(right, '/tests'), await scoreOf(right, '/known')]).toEqual([1, 1])
    expect([await scoreOf(before, '/tests'), await scoreOf(before, '/known')]).toEqual([0, 1])
  })

  it('are not made of commits that no call tells apart, and each says why', async () => {
    commit('Begin', { 'add.js': minus, 'b.js': '1' })
    const lot = commit('By lot', { 'add.js': 'const add = () => Math.random()' })
    const both = commit('Both', { 'add.js': plus, 'b.js': '2' })
    const words = commit('Words', { 'README.md': 'Adds.' })
    const comment = commit('Comment', { 'add.js': `// Adds.\n${plus}` })
    const large = commit('Large', { 'add.js': `${plus}//${'x'.repeat(70_000)}` })
    const { tasks, skipped } = await tasksFromCommits(folder, trying(add(1, 2)))
    expect(tasks).toEqual([])
    expect(skipped).toEqual([
      { commit: large, reason: 'it is too large, or not there' },
      { commit: comment, reason: 'no call fails before it and passes after it' },
      { commit: words, reason: 'it changes 0 JavaScript files, not one' },
      { commit: both, reason: 'it changes 2 JavaScript files, not one' },
      { commit: lot, reason: 'no call fails before it and passes after it' },
    ])
  })

  it('are of one split where they are of one file', async () => {
    commit('Begin', { 'add.js': minus })
    for (let i = 1; i < 6; i++) commit(`Add ${i}`, { 'add.js': `const add = () => ${i}` })
    const { tasks } = await tasksFromCommits(folder, { ...trying(add()), commits: 4 })
    expect(tasks).toHaveLength(4)
    expect(new Set(tasks.map(({ split }) => split)).size).toBe(1)
  })

  it('teach after a call, and are refused without their data', async () => {
    commit('Begin', { 'add.js': minus })
    commit('Fix', { 'add.js': plus })
    const { environment, tasks } = await tasksFromCommits(folder, trying(add(1, 2)))
    const task = Task.parse(tasks[0])
    const reply = await environment.open(task, 0).step({ kind: 'calls', calls: [{ name: 'run', arguments: {} }] })
    expect(reply).toMatchObject({ done: false, messages: [{ role: 'tool', isError: true }] })
    expect(() => environment.open({ ...task, data: {} }, 0)).toThrow(
      expect.objectContaining({ code: 'environment/malformed-commit-task' }),
    )
  })

  it('need a history', async () => {
    const none = expect.objectContaining({ code: 'environment/no-history' }) as Error
    await expect(tasksFromCommits(folder, trying())).rejects.toEqual(none)
    await expect(tasksFromCommits('/no/such/folder', trying())).rejects.toEqual(none)
    await expect(tasksFromCommits('--help', trying())).rejects.toEqual(none)
  })
})

describe('a hostile repository', () => {
  it('runs in the sandbox alone, for so many steps', async () => {
    commit('Begin', { 'add.js': minus })
    const escape = 'typeof process + typeof require + typeof globalThis.fetch'
    commit('Escape', { 'add.js': `const add = () => ${escape}` })
    commit('Loop', { 'add.js': 'function add() { for (;;) {} }' })
    const { tasks, skipped } = await tasksFromCommits(folder, trying(add(1, 2)))
    expect(tasks.map(({ data }) => CommitTaskData.parse(data).tests[0]?.returns)).toEqual([
      'undefinedundefinedundefined',
    ])
    expect(skipped).toHaveLength(1)
  })

  it('says what it likes, and it is text', async () => {
    const path = 'a "b"\nc;$(touch x).js'
    commit('Begin', { [path]: minus })
    commit('Fix\u0007 \u202e --help', { [path]: plus })
    const { tasks } = await tasksFromCommits(folder, trying(add(1, 2)))
    expect(tasks[0]).toMatchObject({ family: path, instruction: expect.stringContaining('Fix? ? --help') as string })
  })

  it('has links that are not followed', async () => {
    commit('Begin', { 'add.js': minus })
    unlinkSync(join(folder, 'add.js'))
    symlinkSync('/etc/passwd', join(folder, 'add.js'))
    commit('Link', {})
    expect((await tasksFromCommits(folder, trying(add(1, 2)))).tasks).toEqual([])
  })

  it('starts no program by its configuration', async () => {
    const [trap, sprung] = [join(folder, '.git', 'trap.sh'), join(folder, 'sprung')]
    commit('Begin', { 'add.js': minus, '.gitattributes': '*.js diff=trap filter=trap' })
    commit('Fix', { 'add.js': plus })
    writeFileSync(trap, `#!/bin/sh\necho "$0 $@" >> '${sprung}'\nexit 1\n`)
    chmodSync(trap, 0o755)
    const traps = ['core.fsmonitor', 'core.pager', 'core.sshCommand', 'diff.external', 'diff.trap.textconv']
    const more = ['diff.trap.command', 'filter.trap.smudge', 'gpg.program', 'core.editor', 'credential.helper']
    for (const key of [...traps, ...more]) git('config', key, trap)
    git('config', 'log.showSignature', 'true')
    expect((await tasksFromCommits(folder, trying(add(1, 2)))).tasks).toHaveLength(1)
    expect(existsSync(sprung)).toBe(false)

    // A partial clone that lacks a file: git would fetch it by a program of the repository's choice.
    const lacking = git('rev-parse', 'HEAD~1:add.js')
    const settings = { 'core.repositoryformatversion': '1', 'extensions.partialClone': 'origin' }
    const remote = { 'remote.origin.url': folder, 'remote.origin.promisor': 'true', 'remote.origin.uploadpack': trap }
    for (const [key, value] of Object.entries({ ...settings, ...remote })) git('config', key, value)
    rmSync(join(folder, '.git', 'objects', lacking.slice(0, 2), lacking.slice(2)))
    const { tasks, skipped } = await tasksFromCommits(folder, trying(add(1, 2)))
    expect([tasks, skipped.map(({ reason }) => reason)]).toEqual([[], ['it is too large, or not there']])
    expect(existsSync(sprung)).toBe(false)
    // The trap works: without the precautions git springs it.
    expect(() => git('cat-file', 'blob', lacking)).toThrow()
    expect(existsSync(sprung)).toBe(true)
  })
})
