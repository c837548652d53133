import { describe, expect, it } from 'vitest'
import { isElicited, Reader } from './elicited.ts'

describe('a reply that the turn itself said', () => {
  const turn =
    '您的订单已经发货，预计三天内送达。如果收到的商品有问题，可以在七天内申请退货，我们会安排快递上门取件，退款会在收到商品后的五个工作日内退回原来的支付账户。积分会随订单完成自动到账，也可以在会员中心查看。'
  it('is told from a new one in scripts without blanks, too', () => {
    for (const reply of ['换货要多久？运费谁付？', '会员可以用优惠券吗？', '能改地址到上海吗？'])
      expect(isElicited(reply, { said: [turn] }, new Reader())).toBe(false)
    expect(isElicited('退款会在收到商品后', { said: [turn] }, new Reader())).toBe(true)
  })

  it('is read to a bound, whatever comes behind', () => {
    const said = Array.from({ length: 500 }, (_, i) => `answer ${'x'.repeat(i + 1)}`)
    const reply = Array.from({ length: 400_000 }, (_, i) => `word${i}`).join(' ')
    expect(isElicited(reply, { said }, new Reader())).toBe(false)
  })
})
