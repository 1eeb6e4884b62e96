import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startApp } from '../../test/support/app/app.ts';
import { buttonColours, mailColours, schemes } from '../html/brand-colours.ts';
import { contrast } from '../html/contrast.ts';

test('contrast is that of WCAG', () => {
  expect(contrast('#000000', '#ffffff')).toBe(21);
  expect(contrast('#ffffff', '#ffffff')).toBe(1);
  // The lightest grey that may be text on white, and the next.
  expect(contrast('#767676', '#ffffff')).toBeCloseTo(4.54, 2);
  expect(contrast('#ffffff', '#777777')).toBeCloseTo(4.48, 2);
  expect(contrast('#ff0000', '#0000ff')).toBeCloseTo(2.15, 2);
});

const colour = fc
  .integer({ min: 0, max: 0xffffff })
  .map((number) => `#${number.toString(16).padStart(6, '0')}`);

/** Whatever an app calls its colour. */
function expectLegible(ground: string): void {
  const { ink, edge } = buttonColours(ground);
  expect(contrast(ground, ink), ground).toBeGreaterThanOrEqual(4.5);
  expect(contrast(edge.light, schemes.light.card), ground).toBeGreaterThanOrEqual(3);
  expect(contrast(edge.dark, schemes.dark.card), ground).toBeGreaterThanOrEqual(3);
  const mail = mailColours(ground);
  expect(contrast(ground, mail.ink), ground).toBeGreaterThanOrEqual(4.5);
  expect(contrast(mail.edge, schemes.light.card), ground).toBeGreaterThanOrEqual(3);
  expect(contrast(mail.title, schemes.light.card), ground).toBeGreaterThanOrEqual(4.5);
}

test('a button can be read and its edge be seen, on pages and in mails, in any colour', () => {
  fc.assert(fc.property(colour, expectLegible), { numRuns: 5000 });
});

test('and in every grey, where black and white are closest', () => {
  for (let grey = 0; grey < 256; grey++) expectLegible(`#${grey.toString(16).padStart(2, '0').repeat(3)}`);
});

test('a colour keeps its place where it stands out by itself', () => {
  expect(buttonColours('#1f3a5f')).toMatchObject({ ink: '#ffffff', edge: { light: '#1f3a5f' } });
  expect(buttonColours('#ffd400')).toMatchObject({ ink: '#000000', edge: { dark: '#ffd400' } });
});

test('is served as a file of its own that is kept for good, and nothing else is', async () => {
  const app = await startApp();
  const get = (file: string) => app.server.inject(`/hosted/colour/${file}`);
  const sheet = await get('0a7d55.css');
  expect(sheet.body).toContain('--button: #0a7d55;');
  // The outline of the focus has the colour of the edge, whose contrast with the card is tested above.
  expect(sheet.body.match(/--button-edge: (#\w+); --focus: \1;/g)).toHaveLength(2);
  expect(sheet.headers).toMatchObject({
    'content-type': 'text/css; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
  });
  const others = ['0A7D55.css', '0a7d5.css', '0a7d55', 'red.css', '%7D0a7d55.css', '0a7d55.css%0a', ''];
  for (const other of others) {
    const refused = await get(other);
    expect([other, refused.statusCode, refused.headers['cache-control']]).toEqual([other, 404, 'no-store']);
  }
  await app.close();
});
