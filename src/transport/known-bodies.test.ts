import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createKnownBodies } from './known-bodies.ts';

const text = '{"permission":{"resource":"invoice","action":"read"}}';
const value = (): { permission: { resource: string } } => JSON.parse(text) as never;

describe('a known body', () => {
  it('is kept from its second time on, frozen through and through', () => {
    const bodies = createKnownBodies();
    const [first, second] = [value(), value()];
    bodies.add(text, first);
    expect(bodies.find(text)).toBeUndefined();
    expect(Object.isFrozen(first)).toBe(false);
    bodies.add(text, second);
    expect(bodies.find(text)).toBe(second);
    expect(Object.isFrozen(second)).toBe(true);
    expect(() => (second.permission.resource = 'order')).toThrow(TypeError);
  });

  it('is not one that is long', () => {
    const bodies = createKnownBodies();
    const long = JSON.stringify({ padding: 'x'.repeat(3000) });
    for (let times = 0; times < 3; times++) bodies.add(long, JSON.parse(long) as object);
    expect(bodies.find(long)).toBeUndefined();
  });

  it('is forgotten when others are asked, and stays when it is asked', () => {
    const bodies = createKnownBodies(10);
    for (const one of ['"a"', '"b"']) for (let times = 0; times < 2; times++) bodies.add(one, { one });
    for (let other = 0; other < 40; other++) {
      bodies.add(`${other}`, { other });
      expect(bodies.find('"a"')).toEqual({ one: '"a"' });
    }
    expect(bodies.find('"b"')).toBeUndefined();
  });

  it('is never the value of another text', () => {
    const texts = fc.array(fc.json({ maxDepth: 2 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 8 }), (all, most) => {
        const bodies = createKnownBodies(most);
        for (const one of [...all, ...all, ...all]) {
          const known = bodies.find(one);
          if (known) expect(known).toEqual({ of: JSON.parse(one) as unknown });
          else bodies.add(one, { of: JSON.parse(one) as unknown });
        }
      }),
    );
  });
});
