import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

/** The names of every object in the order of the text. */
function namesIn(text: string): string[][] {
  const objects: string[][] = [];
  const open: (string[] | null)[] = [];
  for (const [token, quoted] of text.matchAll(/("(?:[^"\\]|\\.)*")(?=:)|"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    if (quoted !== undefined) open.at(-1)?.push(JSON.parse(quoted) as string);
    else if (token === '{') objects.push(open[open.push([]) - 1] as string[]);
    else if (token === '[') open.push(null);
    else if (token === '}' || token === ']') open.pop();
  }
  return objects;
}

const values = fc.oneof(
  fc.jsonValue(),
  // Names that do not keep the insertion order in JavaScript objects.
  fc.dictionary(
    fc.constantFrom('10', '9', '01', '-1', 'a', 'B', '__proto__', 'é', '\u{1f600}', 'ﬁ', ''),
    fc.jsonValue(),
  ),
);

it('keeps the value, with the members of each object sorted by UTF-16 code units', () => {
  fc.assert(
    fc.property(values, (value) => {
      const text = canonicalJson(value);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      for (const names of namesIn(text)) expect(names).toEqual(names.toSorted());
    }),
    { numRuns: 2000 },
  );
});

it('is the same text for any order of members', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), fc.jsonValue())), (entries) => {
      const unique = [...new Map(entries)];
      expect(canonicalJson(Object.fromEntries(unique))).toBe(
        canonicalJson(Object.fromEntries(unique.toReversed())),
      );
    }),
  );
});

it.each([
  [
    'the numbers and texts of RFC 8785 §3.2.2',
    {
      numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 1e-27, -0],
      string: '€$\u000f\nA\'B"\\\\"/',
      literals: [null, true, false],
    },
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  ],
  [
    'the order of RFC 8785 §3.2.3',
    {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    },
    '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","\ud83d\ude00":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
  ],
  ['indices as names', { b: 1, '10': { '9': 1, '10': 2 }, '9': 3 }, '{"10":{"10":2,"9":1},"9":3,"b":1}'],
  ['what is not there', { b: undefined, a: [undefined, null] }, '{"a":[null,null]}'],
  ['a time', [new Date(0)], '["1970-01-01T00:00:00.000Z"]'],
  ['nothing', undefined, 'null'],
])('writes %s', (_, value, text) => expect(canonicalJson(value)).toBe(text));
