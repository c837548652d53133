/** Text that no rule could be applied to in time. */
export const unread = '[unread]'
