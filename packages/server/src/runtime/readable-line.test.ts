import { expect, test } from 'vitest';
import { createLog, type LogLine } from './log.ts';
import { readableLine } from './readable-line.ts';

function printed(line: LogLine, hasColours = false): string {
  let text = '';
  const log = createLog('info', { write: (json) => void (text += readableLine(json, hasColours)) });
  log.warn(line);
  return text;
}

test('a line is its time, level, message and other fields', () => {
  expect(printed({ message: 'it is late', worker: 2 })).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} WARN {2}it is late \{"worker":2\}\n$/,
  );
  expect(printed({ message: 'it is late' })).toMatch(/ it is late\n$/);
});

test('a request is its method, route and status, without who sent it', () => {
  const request = { method: 'GET', route: '/api/roles/:id', status: 200, ms: 1.5, address: '::1' };
  expect(printed({ ...request, subject: 'a', credential: 'b', requestId: 'r-1' })).toMatch(
    / WARN {2}GET \/api\/roles\/:id → 200 1\.5 ms \{"requestId":"r-1"\}\n$/,
  );
});

test('an error is below its line, with its stack and its cause', () => {
  const cause = Object.assign(new TypeError('not a number'), { code: 'E_SUCH' });
  const text = printed({ message: 'it failed', error: new Error('outer', { cause }) });
  expect(text).toMatch(/ it failed\n {4}Error: outer\n {6}at .*readable-line\.test\.ts/);
  expect(text).toMatch(/\n {4}TypeError E_SUCH: not a number\n {6}at /);
  expect(printed({ message: 'it failed', error: 'hunter2' })).toMatch(/ it failed\n {4}string\n$/);
});

test('colours are those of the level alone, and no text brings others', () => {
  expect(printed({ message: 'it is late' }, true)).toMatch(/ \u001b\[33mWARN \u001b\[39m it is late\n$/);
  expect(printed({ message: 'a\u001b[31mb', error: new Error('c\u001bd') })).not.toContain('\u001b');
});

test('no text looks like a line of its own, or turns the direction', () => {
  const forged = 'a\n17:31:33.033 ERROR b';
  for (const text of [printed({ message: forged }), printed({ message: 'c', error: new Error(forged) })])
    expect(text).toMatch(/\n {4,}17:31:33\.033 ERROR b/);
  expect(printed({ message: 'a\u202eb\u2028c' })).toContain('a\\u{202e}b\\u{2028}c');
});
