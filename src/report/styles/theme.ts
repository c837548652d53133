/**
 * Colours by role, for light and dark. Blue, orange, violet and green of equal lightness, told apart by colour-blind
 * eyes; every text colour has a contrast of at least 4.5 on both surfaces.
 */
export const theme = `
:root {
  color-scheme: light dark;
  --page: #fbfbf9; --surface: #ffffff; --sunken: #f2f3f0;
  --ink: #1a1e22; --muted: #59636d; --line: #dcdfdd; --faint: #eceeeb;
  --blue: #0b5cad; --orange: #b04a00; --violet: #7a3fa6; --green: #00704f;
  --good: #00704f; --good-wash: #e0f2ea; --bad: #b3261e; --bad-wash: #fbe7e4;
  --open: #8a5200; --open-wash: #fbefd9; --still: #4d5761; --still-wash: #e9ecee;
  --shade: 0 1px 2px rgb(20 30 40 / 6%);
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #121517; --surface: #191d20; --sunken: #22272b;
    --ink: #e8ebed; --muted: #a3adb6; --line: #343b41; --faint: #262c30;
    --blue: #74b4f5; --orange: #f0a264; --violet: #c79be8; --green: #5cc9a0;
    --good: #5cc9a0; --good-wash: #15332a; --bad: #ff9c92; --bad-wash: #40201d;
    --open: #f0b866; --open-wash: #3a2c14; --still: #b6c0c8; --still-wash: #2a3137;
    --shade: none;
  }
}
`
