/** `@doorward/decision` as it is published, in Chromium: it answers the golden cases as it does in Node. */
import { build } from 'esbuild';
import { expect, inject, test } from 'vitest';
import { launch } from '../../packages/server/test/browser/watched.ts';

const script = `
  import { compileCondition } from '@doorward/decision';
  import { goldenCases } from '@doorward/decision/golden';

  globalThis.answers = goldenCases.map(({ number, condition, attributes, expected }) => ({
    number,
    isRight: compileCondition(condition).evaluate(attributes) === (expected === 'refused' ? 'unknown' : expected),
  }));
`;

test('each golden case is answered as in Node', async () => {
  const { outputFiles } = await build({
    stdin: { contents: script, resolveDir: inject('project') },
    bundle: true,
    format: 'iife',
    platform: 'browser',
    write: false,
  });
  const browser = await launch();
  try {
    const page = await browser.newPage();
    await page.evaluate(outputFiles[0]?.text ?? '');
    const answers = await page.evaluate<{ number: number; isRight: boolean }[]>('answers');
    expect(answers.length).toBeGreaterThanOrEqual(60);
    expect(answers.filter(({ isRight }) => !isRight)).toEqual([]);
  } finally {
    await browser.close();
  }
});
