/** Never learns: the same program, seeds and number of episodes. */
export const learnsNothing = {
  name: 'nothing',
  kind: 'skill',
  open: async ({ value }) => ({
    bound: async () => value,
    propose: async () => null,
    save: async () => ({ state: null }),
    step: async () => ({}),
  }),
}
