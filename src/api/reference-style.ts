/** How the reference page looks: light or dark as the reader's system is, readable on a phone and on paper. */

export const REFERENCE_STYLE = `
:root {
  color-scheme: light dark;
  --ink: #1c2024; --soft: #5b6570; --line: #d9dee3; --back: #ffffff; --tint: #f3f5f7; --mark: #0b5cad;
}
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ec; --soft: #9aa5b0; --line: #343b42; --back: #15181b; --tint: #1e2327; --mark: #7ab7f5; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 6rem; }
h1 { font-size: 2rem; margin: 0.5rem 0; }
h2 { margin: 3rem 0 0.5rem; padding-bottom: 0.3rem; border-bottom: 1px solid var(--line); }
h3 { margin: 0; font-size: 1.05rem; overflow-wrap: anywhere; }
h4 { margin: 1.2rem 0 0.3rem; font-size: 0.95rem; color: var(--soft); }
a { color: var(--mark); }
a:focus-visible { outline: 2px solid var(--mark); outline-offset: 2px; }
code, pre { font: 0.9em/1.5 ui-monospace, monospace; }
code { background: var(--tint); padding: 0.1em 0.3em; border-radius: 3px; overflow-wrap: anywhere; }
pre { background: var(--tint); padding: 0.8rem 1rem; border-radius: 6px; overflow-x: auto; margin: 0.3rem 0; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
article { margin: 1.5rem 0; padding: 1rem; border: 1px solid var(--line); border-radius: 8px; }
article:target { border-color: var(--mark); }
.method { display: inline-block; min-width: 5em; font-weight: 700; color: var(--mark); }
.soft { color: var(--soft); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.7rem 0.35rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--soft); }
nav ul { list-style: none; padding: 0; margin: 0.2rem 0 1rem; }
nav li { padding: 0.1rem 0; overflow-wrap: anywhere; }
`
