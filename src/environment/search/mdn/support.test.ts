import type { SupportStatement } from '@mdn/browser-compat-data'
import { describe, expect, it } from 'vitest'
import { browsers, compareVersions, readSupportLines, supportLines, supportTable, supportValue } from './support.ts'

const flags: [{ type: 'preference'; name: string }] = [{ type: 'preference', name: 'x' }]

describe('supportValue', () => {
  it.each<[string, SupportStatement | undefined, string]>([
    ['a version', { version_added: '112' }, '112'],
    ['a version with a needless zero', { version_added: '15.0' }, '15'],
    ['a minor version', { version_added: '15.4' }, '15.4'],
    ['version ten', { version_added: '10' }, '10'],
    ['no support', { version_added: false }, 'never'],
    ['a browser that the data omits', undefined, 'never'],
    ['a version or an earlier one', { version_added: '≤37' }, '<=37'],
    ['a preview', { version_added: 'preview' }, 'preview'],
    ['partial support', { version_added: '10', partial_implementation: true }, 'partial'],
    ['a prefix', { version_added: '10', prefix: '-webkit-' }, 'renamed'],
    ['another name', { version_added: '10', alternative_name: 'other' }, 'renamed'],
    ['a flag', { version_added: '10', flags }, 'flag'],
    ['a flag on a partial implementation', { version_added: '10', flags, partial_implementation: true }, 'flag'],
    ['a removal', { version_added: '10', version_removed: '20' }, 'removed'],
    ['a flag that went with a removal', { version_added: '10', version_removed: '20', flags }, 'removed'],
    ['full support after a prefix', [{ version_added: '30' }, { version_added: '10', prefix: '-moz-' }], '30'],
    ['a second coming', [{ version_added: '30' }, { version_added: '10', version_removed: '20' }], '30'],
    [
      'partial before a prefix',
      [
        { version_added: '30', partial_implementation: true },
        { version_added: '10', prefix: 'x' },
      ],
      'partial',
    ],
    ['the earlier of two versions', [{ version_added: '30' }, { version_added: '9' }], '9'],
    ['full support, no longer', [{ version_added: false }, { version_added: '10', version_removed: '20' }], 'removed'],
  ])('reads %s', (_what, statement, expected) => {
    expect(supportValue(statement)).toBe(expected)
  })
})

it('orders versions by number, part by part', () => {
  expect(['15.10', '9', '15.4', '15', '112'].sort(compareVersions)).toEqual(['9', '15', '15.4', '15.10', '112'])
})

it('writes one line a browser and reads it back', () => {
  const table = supportTable({ chrome: { version_added: '88' }, safari: { version_added: '15.4' } })
  expect(supportLines(table)).toEqual(['chrome 88', 'edge never', 'firefox never', 'opera never', 'safari 15.4'])
  expect(readSupportLines(supportLines(table).join('\n'))).toEqual(table)
})

it('reads nothing out of an error', () => {
  const table = readSupportLines('no document "x": search first')
  expect(browsers.every((browser) => table[browser] === 'unknown')).toBe(true)
})
