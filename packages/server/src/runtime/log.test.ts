import { describe, expect, it } from 'vitest';
import { createLog } from './log.ts';

function written(level: 'info' | 'warn' | 'silent') {
  const lines: Record<string, unknown>[] = [];
  const log = createLog(level, {
    write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  });
  return { log, lines };
}

/** Logs the error, and returns the member `error` of the line. */
function errorOf(error: unknown): Record<string, unknown> {
  const { log, lines } = written('info');
  log.error({ error, message: 'it failed' });
  return lines[0]?.['error'] as Record<string, unknown>;
}

describe('a line', () => {
  it('has its time, the name of its level and its fields, and nothing of the machine', () => {
    const { log, lines } = written('info');
    log.warn({ message: 'it is late', requestId: 'one', ms: 1.5 });
    const [{ time, ...rest } = {}] = lines;
    expect(rest).toEqual({ level: 'warn', message: 'it is late', requestId: 'one', ms: 1.5 });
    expect(time).toBe(new Date(String(time)).toISOString());
  });

  it('is written from its level on', () => {
    const { log, lines } = written('warn');
    log.info({ message: 'a' });
    log.warn({ message: 'b' });
    log.error({ message: 'c' });
    expect(lines.map(({ message }) => message)).toEqual(['b', 'c']);
    expect([log.isLevelEnabled('info'), log.isLevelEnabled('warn')]).toEqual([false, true]);
    const silent = written('silent');
    silent.log.error({ message: 'd' });
    expect(silent.lines).toEqual([]);
  });
});

describe('an error', () => {
  it('is its name, code, message and the first places of its stack', () => {
    const match = errorOf(
      Object.assign(new TypeError('not a number'), { code: 'E_SUCH', payload: 'hunter2' }),
    );
    expect(match).toMatchObject({ name: 'TypeError', code: 'E_SUCH', message: 'not a number' });
    expect(match['at']).toContainEqual(expect.stringContaining('log.test.ts'));
    expect((match['at'] as string[]).length).toBeLessThanOrEqual(6);
    expect(JSON.stringify(match)).not.toContain('hunter2');
  });

  it.each([
    ['by its name', Object.assign(new Error('key (email)=(ada@example.test)'), { name: 'DatabaseError' })],
    ['by its constraint', Object.assign(new Error('key (email)=(ada@example.test)'), { constraint: 'one' })],
    ['by its statement', Object.assign(new Error('failed: ada@example.test'), { query: 'select 1' })],
  ])('of the database, seen %s, keeps its message to itself, also as a cause', (_, fault) => {
    for (const error of [fault, new Error('outer', { cause: fault })]) {
      const text = JSON.stringify(errorOf(error));
      expect(text).not.toContain('ada@example.test');
      expect(text).toContain(fault.name);
    }
  });

  it('that is none is the name of its type', () => {
    expect(errorOf('hunter2')).toBe('string');
  });
});
