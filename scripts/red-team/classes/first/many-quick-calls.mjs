import { calling, whenAnswering } from '../../grammar.mjs'

export default {
  family: 'slowing',
  what: 'many short calls: each is quick, all of them are slow, and who is tired of waiting says nothing',
  right: -0.1,
  turn: whenAnswering(calling(6, 3)),
}
