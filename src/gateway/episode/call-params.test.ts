import { expect, it } from 'vitest'
import { ChatRequest, ModelCall } from '../../core/index.ts'
import { callParams, promptShape } from './call-params.ts'
import { redactionOf } from './redaction/index.ts'

const none = redactionOf([])
const request = (more: object) =>
  ChatRequest.parse({ model: 'm', messages: [{ role: 'user', content: 'hi' }], tools: [], ...more })

it('keeps what an answer was asked for with', () => {
  const asked = {
    temperature: 0.5,
    max_tokens: 5,
    max_completion_tokens: 7,
    top_k: 3,
    stop_token_ids: [1],
    min_tokens: 2,
    logit_bias: { 5: -100 },
    response_format: { type: 'json_schema', json_schema: { schema: { properties: { user: { type: 'string' } } } } },
    return_token_ids: true,
    chat_template_kwargs: { enable_thinking: false },
    stream: true,
  }
  expect(callParams(request(asked), none)).toEqual(asked)
})

it('leaves out who asks, and everything that may be a secret', () => {
  const { model: _, ...params } = ModelCall.shape.params.parse(
    callParams(
      request({
        user: 'jo',
        metadata: { order: '12' },
        safety_identifier: 'jo',
        prompt_cache_key: 'jo',
        api_key: 'k',
        apiKey: 'k',
        extra_headers: { Authorization: 'k' },
        authorization: 'k',
        access_token: 'k',
        password: 'k',
        litellm_session_id: 'jo',
        web_search_options: {
          user_location: 'x',
          search_context_size: 'low',
          deep: [{ 'x-api-key': 'k', metadata: { order: '12' } }],
        },
        temperature: null,
      }),
      none,
    ),
  )
  expect(params).toEqual({ web_search_options: { search_context_size: 'low', deep: [{}] } })
})

it('is of bounded size, whatever is sent', () => {
  const huge = { type: 'json_schema', schema: 'x'.repeat(100_000) }
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`field_${i}`, i]))
  const params = callParams(request({ response_format: huge, ...many, ['n'.repeat(1_000)]: 1 }), none)
  expect(params['response_format']).toMatch(/^\[left out: 1000\d\d characters\]$/)
  expect(Object.keys(params).length).toBeLessThanOrEqual(64)
  expect(JSON.stringify(params).length).toBeLessThan(5_000)
  const hostile = ChatRequest.parse(
    JSON.parse('{"model":"m","messages":[{"role":"user","content":""}],"__proto__":{"a":1}}'),
  )
  expect(Object.getPrototypeOf(callParams(hostile, none))).toBe(Object.prototype)
})

it('holds nothing that must not be written', () => {
  expect(callParams(request({ prediction: { content: 'jo@example.org' } }), redactionOf(['email']))).toEqual({
    prediction: { content: '[email]' },
  })
})

it('tells what a prompt is rendered by', () => {
  const shape = promptShape('m', null, { temperature: 1 })
  expect(promptShape('m', null, { temperature: 0.5, max_tokens: 1 })).toBe(shape)
  for (const other of [
    promptShape('n', null, {}),
    promptShape('m', 'tools', {}),
    promptShape('m', null, { chat_template_kwargs: { enable_thinking: true } }),
  ]) {
    expect(other).not.toBe(shape)
  }
})
