import { expect, it } from 'vitest'
import { titles } from './title.ts'

const titlesOf = (...paths: string[]) => titles(paths.map((path) => path.split('.')))

it('leaves out what a reader does not need', () => {
  expect(
    titlesOf(
      'api.MLGraphBuilder.relu',
      'api.AbortController.AbortController',
      'css.properties.aspect-ratio',
      'css.selectors.hover',
      'javascript.builtins.Array.at',
      'http.headers.Accept',
      'html.elements.dialog.closedby',
    ),
  ).toEqual([
    'MLGraphBuilder.relu',
    'AbortController()',
    'aspect-ratio',
    'selectors.hover',
    'Array.at',
    'Accept',
    'dialog.closedby',
  ])
})

it('tells features apart that would share a title', () => {
  expect(titlesOf('html.elements.a', 'svg.elements.a')).toEqual(['html.a', 'svg.a'])
  expect(titlesOf('css.properties.mask', 'svg.elements.mask', 'svg.mask')).toEqual([
    'css.mask',
    'svg.elements.mask',
    'svg.mask',
  ])
})
