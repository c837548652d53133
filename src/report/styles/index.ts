import { charts } from './charts.ts'
import { layout } from './layout.ts'
import { steering } from './steering.ts'
import { stories } from './stories.ts'
import { theme } from './theme.ts'

/** Everything the page looks like: one constant text, so that the page's policy can name it by its hash. */
export const styles = [theme, layout, charts, stories, steering].join('\n')
