import { compileCondition, type Truth } from '@doorward/decision';
import { operators, type Operator } from '@doorward/decision/conditions-parse';

/**
 * An example of each operator of conditions for each result, for docs/reference/conditions.md. An operator without examples
 * does not compile, and an example with another result than it names stops the generator.
 */
export interface OperatorExamples {
  /** When the comparison is true. */
  readonly meaning: string;
  /** When it is unknown, beside a missing attribute. */
  readonly unknown: string;
  readonly condition: object;
  /** One for each result: the attributes that give it. */
  readonly attributes: Readonly<Record<Truth, object>>;
}

const resource = (members: object): object => ({ resource: members });
const noText = 'one of the two is not text';
const noNumber = 'one of the two is not a number; text with digits is not one either';
const otherType = 'one of the two is a list or an object, or both have values of different types';

export const examples: Readonly<Record<Operator, OperatorExamples>> = {
  Equals: {
    meaning: 'both are the same text, number, boolean or null',
    unknown: otherType,
    condition: { Equals: { 'resource.ownerId': '{{user.id}}' } },
    attributes: {
      true: { user: { id: 'u1' }, ...resource({ ownerId: 'u1' }) },
      false: { user: { id: 'u1' }, ...resource({ ownerId: 'u2' }) },
      unknown: { user: { id: 'u1' }, ...resource({ ownerId: 1 }) },
    },
  },
  NotEquals: {
    meaning: 'both can be compared and differ',
    unknown: otherType,
    condition: { NotEquals: { 'resource.status': 'final' } },
    attributes: {
      true: resource({ status: 'draft' }),
      false: resource({ status: 'final' }),
      unknown: resource({}),
    },
  },
  StringEquals: {
    meaning: 'both are the same text; upper and lower case differ',
    unknown: noText,
    condition: { StringEquals: { 'resource.status': 'draft' } },
    attributes: {
      true: resource({ status: 'draft' }),
      false: resource({ status: 'Draft' }),
      unknown: resource({ status: null }),
    },
  },
  StringNotEquals: {
    meaning: 'both are text and differ',
    unknown: noText,
    condition: { StringNotEquals: { 'resource.status': 'final' } },
    attributes: {
      true: resource({ status: 'draft' }),
      false: resource({ status: 'final' }),
      unknown: resource({ status: null }),
    },
  },
  In: {
    meaning: 'the value equals one item of the list',
    unknown: 'the value is a list or an object, or no item is equal and some item cannot be compared with it',
    condition: { In: { 'resource.status': ['draft', 'open'] } },
    attributes: {
      true: resource({ status: 'open' }),
      false: resource({ status: 'final' }),
      unknown: resource({ status: 7 }),
    },
  },
  NotIn: {
    meaning: 'the value equals no item of the list, and can be compared with each',
    unknown: 'the value is a list or an object, or no item is equal and some item cannot be compared with it',
    condition: { NotIn: { 'resource.class': ['secret', 'top secret'] } },
    attributes: {
      true: resource({ class: 'internal' }),
      false: resource({ class: 'secret' }),
      unknown: resource({}),
    },
  },
  StringIn: {
    meaning: 'the value is text and equals one item of the list',
    unknown: 'the value is not text, or no item is equal and some item cannot be compared with it',
    condition: { StringIn: { 'user.metadata.region': { $ref: 'resource.regions' } } },
    attributes: {
      true: { user: { metadata: { region: 'eu' } }, ...resource({ regions: ['eu', 'us'] }) },
      false: { user: { metadata: { region: 'eu' } }, ...resource({ regions: ['us'] }) },
      unknown: { user: { metadata: { region: 'eu' } }, ...resource({ regions: 'eu' }) },
    },
  },
  StringNotIn: {
    meaning: 'the value is text and equals no item of the list',
    unknown: 'the value is not text, or no item is equal and some item cannot be compared with it',
    condition: { StringNotIn: { 'resource.country': ['KP', 'IR'] } },
    attributes: {
      true: resource({ country: 'FR' }),
      false: resource({ country: 'IR' }),
      unknown: resource({ country: null }),
    },
  },
  Contains: {
    meaning: 'one item of the list at the path equals the value',
    unknown: 'the path reads no list of plain values, or no item is equal and some item cannot be compared',
    condition: { Contains: { 'resource.teams': '{{user.metadata.team}}' } },
    attributes: {
      true: { user: { metadata: { team: 'b' } }, ...resource({ teams: ['a', 'b'] }) },
      false: { user: { metadata: { team: 'c' } }, ...resource({ teams: ['a', 'b'] }) },
      unknown: { user: { metadata: { team: 'b' } }, ...resource({ teams: 'a, b' }) },
    },
  },
  StartsWith: {
    meaning: 'the text at the path begins with the value',
    unknown: `${noText}, or the value is empty`,
    condition: { StartsWith: { 'resource.path': '/public/' } },
    attributes: {
      true: resource({ path: '/public/a.pdf' }),
      false: resource({ path: '/private/a.pdf' }),
      unknown: resource({ path: ['public', 'a.pdf'] }),
    },
  },
  EndsWith: {
    meaning: 'the text at the path ends with the value',
    unknown: `${noText}, or the value is empty`,
    condition: { EndsWith: { 'user.email': '@example.com' } },
    attributes: {
      true: { user: { email: 'ada@example.com' } },
      false: { user: { email: 'eve@example.org' } },
      unknown: { user: { email: null } },
    },
  },
  NumericEquals: {
    meaning: 'both are the same number',
    unknown: noNumber,
    condition: { NumericEquals: { 'resource.year': 2026 } },
    attributes: {
      true: resource({ year: 2026 }),
      false: resource({ year: 2025 }),
      unknown: resource({ year: '2026' }),
    },
  },
  NumericGreaterThan: {
    meaning: 'the number at the path is greater than the value',
    unknown: noNumber,
    condition: { NumericGreaterThan: { 'user.metadata.level': 3 } },
    attributes: {
      true: { user: { metadata: { level: 4 } } },
      false: { user: { metadata: { level: 3 } } },
      unknown: { user: { metadata: {} } },
    },
  },
  NumericLessThan: {
    meaning: 'the number at the path is less than the value',
    unknown: noNumber,
    condition: { NumericLessThan: { 'resource.amount': 500 } },
    attributes: {
      true: resource({ amount: 499.99 }),
      false: resource({ amount: 500 }),
      unknown: resource({ amount: '499' }),
    },
  },
  NumericGreaterThanEquals: {
    meaning: 'the number at the path is the value or greater',
    unknown: noNumber,
    condition: { NumericGreaterThanEquals: { 'user.metadata.level': { $ref: 'resource.minLevel' } } },
    attributes: {
      true: { user: { metadata: { level: 3 } }, ...resource({ minLevel: 3 }) },
      false: { user: { metadata: { level: 2 } }, ...resource({ minLevel: 3 }) },
      unknown: { user: { metadata: { level: 3 } }, ...resource({}) },
    },
  },
  NumericLessThanEquals: {
    meaning: 'the number at the path is the value or less',
    unknown: noNumber,
    condition: { NumericLessThanEquals: { 'resource.amount': { $ref: 'user.metadata.limit' } } },
    attributes: {
      true: { user: { metadata: { limit: 1000 } }, ...resource({ amount: 1000 }) },
      false: { user: { metadata: { limit: 1000 } }, ...resource({ amount: 1001 }) },
      unknown: { user: { metadata: {} }, ...resource({ amount: 1 }) },
    },
  },
};

/** Examples of And, Or and Not, which combine conditions. */
export const connectives: readonly (readonly [condition: object, attributes: object, result: Truth])[] = [
  [
    { Equals: { 'resource.status': 'draft', 'resource.region': 'eu' } },
    resource({ status: 'draft', region: 'us' }),
    'false',
  ],
  [
    { And: [{ Equals: { 'resource.status': 'draft' } }, { Equals: { 'resource.region': 'eu' } }] },
    resource({ status: 'draft' }),
    'unknown',
  ],
  [
    { Or: [{ Equals: { 'resource.public': true } }, { Equals: { 'resource.ownerId': '{{user.id}}' } }] },
    { user: { id: 'u1' }, ...resource({ ownerId: 'u1' }) },
    'true',
  ],
  [{ Not: { In: { 'resource.class': ['secret'] } } }, resource({ class: 'internal' }), 'true'],
  [{ Not: { In: { 'resource.class': ['secret'] } } }, resource({}), 'unknown'],
];

/** @throws Error if a condition has another result than its example names */
export function assertExamples(): void {
  const all = [
    ...connectives,
    ...operators.flatMap((operator) =>
      (['true', 'false', 'unknown'] as const).map(
        (truth) => [examples[operator].condition, examples[operator].attributes[truth], truth] as const,
      ),
    ),
  ];
  for (const [condition, attributes, wanted] of all) {
    const actual = compileCondition(condition).evaluate(attributes);
    if (actual !== wanted)
      throw new Error(`${JSON.stringify(condition)} with ${JSON.stringify(attributes)} is ${actual}`);
  }
}
