import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fillSentence } from './fill-sentence.ts';
import { html, Html, type Content } from './html.ts';

const rendered = (content: Content): string => html`${content}`.toString();

const hostile = `"><script>alert('1')</script>&amp;\${x}{app}$&`;
const harmless = '&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;amp;${x}{app}$&amp;';

describe('a value', () => {
  it('is escaped as text and in an attribute', () => {
    expect(html`<p title="${hostile}">${hostile}</p>`.toString()).toBe(
      `<p title="${harmless}">${harmless}</p>`,
    );
  });

  it('is escaped in an array, at any depth', () => {
    expect(rendered(['<', ['>', html`<b></b>`, [hostile]]])).toBe(`&lt;&gt;<b></b>${harmless}`);
  });

  it('is escaped again if it is markup that has become a string', () => {
    expect(rendered(html`<b>${'&'}</b>`.toString())).toBe('&lt;b&gt;&amp;amp;&lt;/b&gt;');
    expect(rendered(`${html`<b></b>`.toString()}<i>`)).toBe('&lt;b&gt;&lt;/b&gt;&lt;i&gt;');
  });

  it('is escaped if it only looks like markup', () => {
    const disguised: unknown[] = [
      { toString: () => '<b>' },
      { markup: '<b>', toString: () => '<b>' },
      Object.assign(Object.create(Html.prototype) as object, { toString: () => '<b>' }).toString(),
      new String('<b>'),
      ['<b>'],
    ];
    for (const value of disguised) expect(rendered(value as Content)).toBe('&lt;b&gt;');
  });

  it('never opens or closes a tag, an attribute or an entity', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const escaped = rendered(text);
        expect(escaped).not.toMatch(/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/);
        const decoded = escaped
          .replaceAll('&lt;', '<')
          .replaceAll('&gt;', '>')
          .replaceAll('&quot;', '"')
          .replaceAll('&#39;', "'")
          .replaceAll('&amp;', '&');
        expect(decoded).toBe(text);
      }),
    );
  });
});

describe('a template', () => {
  it('keeps markup that the tag has made', () => {
    const item = (name: string) => html`<li>${name}</li>`;
    expect(rendered(['a', '<b>'].map(item))).toBe('<li>a</li><li>&lt;b&gt;</li>');
  });

  it('renders nothing for undefined, null and false, and 0 and the empty string as they are', () => {
    expect(html`[${undefined}${null}${false}${[]}]${0}${''}`.toString()).toBe('[]0');
  });

  it('needs no value', () => {
    expect(html``.toString()).toBe('');
    expect(html`<p></p>`.toString()).toBe('<p></p>');
  });

  it('keeps replacement patterns in a value', () => {
    expect(html`<p>${"$&$1$`$'"}</p>`.toString()).toBe('<p>$&amp;$1$`$&#39;</p>');
  });
});

describe('fillSentence', () => {
  const sentence = 'Sign in to {app} as {name}';

  it('isolates and escapes each name, and fills no placeholder of a name', () => {
    expect(fillSentence(sentence, { app: hostile, name: '{app}' }).toString()).toBe(
      `Sign in to <bdi>${harmless}</bdi> as <bdi>{app}</bdi>`,
    );
  });

  it('escapes the sentence', () => {
    expect(fillSentence('<b>{x}', { x: '1' }).toString()).toBe('&lt;b&gt;<bdi>1</bdi>');
  });
});
