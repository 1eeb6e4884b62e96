import { schemes, type Scheme } from '../html/brand-colours.ts';

const variables = (scheme: Scheme): string =>
  Object.entries(schemes[scheme])
    .map(([name, colour]) => `--${name.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)}: ${colour};`)
    .join(' ');

/** The style sheet of every hosted page. */
export const stylesheet = `:root { ${variables('light')} }
@media (prefers-color-scheme: dark) { :root { ${variables('dark')} } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--ground);
  color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif; }
.card { width: 100%; max-width: 26rem; min-width: 0; padding: 2rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 12px; }
.brand { display: flex; align-items: center; gap: .6rem; margin: 0 0 1.5rem; font-weight: 650; }
.brand img { border-radius: 7px; }
.brand bdi { min-width: 0; }
.logo { flex: none; object-fit: contain; }
.mark { flex: none; display: grid; place-items: center; width: 2.5rem; height: 2.5rem; border: 1px solid var(--button-edge);
  border-radius: 7px; background: var(--button); color: var(--button-ink); font-size: 1.25rem; line-height: 1; }
h1 { margin: 0 0 .5rem; font-size: 1.35rem; line-height: 1.3; overflow-wrap: anywhere; }
p { margin: 0 0 1.25rem; color: var(--soft); overflow-wrap: anywhere; }
.brand, .brand + * { color: var(--ink); }
label { display: block; margin: 0 0 .35rem; font-size: .9rem; font-weight: 600; }
input, select { width: 100%; margin: 0 0 1.1rem; padding: .65rem .75rem; border: 1px solid var(--soft); border-radius: 6px;
  background: var(--card); color: var(--ink); font: inherit; }
input:read-only { border-color: var(--line); color: var(--soft); }
input[aria-invalid] { border: 2px solid var(--bad); }
fieldset { min-width: 0; margin: 0; padding: 0; border: 0; }
button, .button { display: block; width: 100%; padding: .7rem 1rem; border: 1px solid var(--button-edge); border-radius: 6px;
  background: var(--button); color: var(--button-ink); font: inherit; font-weight: 600; text-align: center;
  text-decoration: none; overflow-wrap: anywhere; cursor: pointer; }
:is(button, .button):hover { box-shadow: 0 0 0 3px var(--line); }
button.quiet { margin: .75rem 0 0; border-color: transparent; background: none; color: var(--ink);
  text-decoration: underline; text-underline-offset: .25em; }
:is(button, .button).plain { border-color: var(--soft); background: none; color: var(--ink); }
button.site, a.site { display: flex; align-items: center; justify-content: center; gap: .6rem; }
.site > :is(img, svg) { flex: none; }
.site > img { border-radius: 4px; background: #fff; object-fit: contain; }
.site > span { min-width: 0; }
form + .button, .button + .button, button + button, form + form > button { margin-top: .75rem; }
p + .button { margin-top: 1.25rem; }
:is(button, input, select, a, summary):focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
button:disabled { opacity: .6; cursor: default; }
a:not(.button) { color: inherit; text-underline-offset: .2em; }
details { margin: 1.25rem 0 0; }
summary { padding: .25rem 0; color: var(--soft); cursor: pointer; }
details[open] > summary { margin: 0 0 1rem; }
.person { display: flex; align-items: center; gap: .75rem; }
.person img { flex: none; border-radius: 50%; }
.person strong { display: block; color: var(--ink); }
.scopes { margin: 0 0 1.25rem; padding: 0 0 0 1.15rem; overflow-wrap: anywhere; }
.scopes li { margin: 0 0 .5rem; }
.scopes small { display: block; color: var(--soft); font-size: .9rem; }
.links { margin: 0; padding: 0; list-style: none; }
.links li + li { margin-top: .75rem; }
.qr { display: block; width: 12rem; max-width: 100%; margin: 0 auto 1rem; border-radius: 6px; }
code { font: .95em/1.4 ui-monospace, 'Cascadia Mono', 'DejaVu Sans Mono', monospace; overflow-wrap: anywhere; color: var(--ink); }
.codes { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .35rem 1rem; margin: 0 0 1.25rem;
  padding: 0; list-style: none; text-align: center; }
.check { display: flex; align-items: start; gap: .6rem; margin: 0 0 1.1rem; font-weight: 400; }
.check input { flex: none; width: 1.2rem; height: 1.2rem; margin: .1rem 0 0; accent-color: var(--button-edge); }
form.after { margin-top: 1.25rem; }
.hint { margin: -.6rem 0 1.1rem; font-size: .9rem; }
button.show { width: auto; margin: -.6rem 0 1.1rem; padding: .25rem 0; font-size: .9rem; }
.other { margin: 1.25rem 0 0; color: var(--ink); }
:is([role='status'], .other) + form { margin-top: 1.25rem; }
.intro { white-space: pre-line; }
h1 + #passkey { margin-top: 1.25rem; }
.or { margin: 1rem 0; text-align: center; }
.code { margin: 0 0 1.25rem; font-size: 1.75rem; letter-spacing: .15em; }
.wide { max-width: 46rem; }
h2 { margin: 2rem 0 .5rem; font-size: 1.1rem; line-height: 1.3; }
.sections { display: flex; flex-wrap: wrap; gap: .15rem 1rem; margin: 0 0 1.5rem; padding: 0 0 1rem; border-bottom: 1px solid var(--line);
  list-style: none; }
.sections a { display: block; padding: .25rem 0; }
.sections a[aria-current] { font-weight: 650; text-decoration-thickness: .15em; }
.rows { margin: 0 0 1.25rem; padding: 0; list-style: none; }
.rows > li { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1.25rem; padding: .9rem 0;
  border-bottom: 1px solid var(--line); }
.rows > li > div { flex: 1 1 16rem; min-width: 0; overflow-wrap: anywhere; }
.rows small { display: block; color: var(--soft); font-size: .9rem; }
.rows button, .narrow { width: auto; }
.rows details { flex: 1 1 100%; margin: 0; }
.own-picture { display: block; margin: 0 0 1rem; border-radius: 50%; object-fit: cover; }
legend { padding: 0; font-weight: 600; }
.wide fieldset { display: flex; flex-wrap: wrap; gap: 0 1.5rem; padding: 0 0 .25rem; }
.wide legend { margin: 0 0 .4rem; }
.wide form > button, .wide > .button { width: auto; max-width: 100%; }
.end { margin: 2rem 0 0; padding: 1.25rem 0 0; border-top: 1px solid var(--line); }
.place { margin: 1.25rem 0 0; font-size: .9rem; }
[role='status'] { margin: 1.25rem 0 0; }
[role='status']:empty { margin: 0; }
.good { color: var(--good); }
.bad { color: var(--bad); }
[hidden] { display: none !important; }
@media (max-width: 24rem) {
  body { padding: 1rem; }
  .card { padding: 1.25rem; }
}
`;
