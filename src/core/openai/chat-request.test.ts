import { expect, it } from 'vitest'
import { ChatRequest } from './chat-request.ts'

const asking = (part: string) =>
  ChatRequest.safeParse(JSON.parse(`{"model":"m","messages":[{"role":"user","content":[${part}]}]}`))

it.each(['{"type":"image_url","n":1e999}', '{"type":"text","text":"a","deep":[{"n":-1e999}]}'])(
  'refuses a part that no record can hold: %s',
  (part) => {
    expect(asking(part).success).toBe(false)
  },
)

it('takes parts of any kind', () => {
  expect(asking('{"type":"new","some":{"thing":[1,null,"x"]}}').success).toBe(true)
})
