import { limits, operators, roots } from '@doorward/decision/conditions-parse';
import { assertExamples, connectives, examples } from './condition-examples.ts';
import { code, page, table } from './reference-pages.ts';

/** What a path of each root reads. */
const readBy: Readonly<Record<(typeof roots)[number], string>> = {
  user: '`id`, `name`, `email`, `emailVerified`, and `metadata.*`: what the scope stores about the user',
  role: '`id`, `name`, `metadata.*` of the role by which the subject holds the permission',
  group: '`id`, `name`, `metadata.*` of the group by which the subject holds the permission',
  organization:
    '`id`, `metadata.*` of the organization whose project it is; in a granted scope `metadata.*` of the grant; elsewhere missing',
  scope:
    '`tenant`, `id`, `accountId`, `organizationId`, `projectId`, as far as the scope has them; those of the project where a call or a token names the scope of a user of it',
  resource: '`context.resource` of the question; for an operation of Doorward itself the stored row',
};

const json = (value: object): string => code(JSON.stringify(value));

/** The page of the condition language: every root, operator and limit, with evaluated examples. */
export function conditionsPage(): string {
  assertExamples();
  const sections = operators.map((operator) => {
    const { meaning, unknown, condition, attributes } = examples[operator];
    return [
      `### ${operator}`,
      `True if ${meaning}.\n\nUnknown if an attribute is missing; also if ${unknown}.`,
      ['```json', JSON.stringify(condition, null, 2), '```'].join('\n'),
      table(
        ['Attributes', 'Result'],
        (['true', 'false', 'unknown'] as const).map((truth) => [json(attributes[truth]), truth]),
      ),
    ].join('\n\n');
  });
  return page(
    'Conditions',
    'The language of conditions of permissions. [Conditions](../concepts/conditions.md) teaches it; this page is complete. Each example was evaluated by `@doorward/decision` when the page was made.',
    'A condition is `null` or `{}` (always met), or an object of clauses that must all hold. A clause is an operator with paths and values, `And` or `Or` with a list of conditions, or `Not` with a condition. A condition is met only if it is **true**; false and unknown refuse.',
    '## Paths',
    `A path is a root and 1 to ${limits.segments} names, with dots between them. Names have 1 to 64 of the characters \`A-Z a-z 0-9 _ -\`. Only members of objects are read; a list has no members.`,
    table(
      ['Root', 'Reads'],
      roots.map((root) => [code(root), readBy[root]]),
    ),
    '## Values',
    'A value is a literal (text, number, `true`, `false`, `null`; for `In`, `NotIn`, `StringIn`, `StringNotIn` a list of them) or a reference to another attribute: `{"$ref": "user.id"}`, or the text `"{{user.id}}"` as a whole. Types are never converted. Text is compared by code point.',
    '## And, Or, Not',
    table(
      ['', 'Result'],
      [
        [code('And'), 'false if any is false; else unknown if any is unknown; else true'],
        [code('Or'), 'true if any is true; else unknown if any is unknown; else false'],
        [code('Not'), 'true and false change places; unknown stays unknown'],
      ],
    ),
    'Members of one object, and entries of one operator, are an `And`.',
    table(
      ['Condition', 'Attributes', 'Result'],
      connectives.map(([condition, attributes, result]) => [json(condition), json(attributes), result]),
    ),
    '## Operators',
    operators.map((operator) => `[${operator}](#${operator.toLowerCase()})`).join(', '),
    ...sections,
    '## Limits',
    table(
      ['Of a condition', 'At most'],
      [
        ['levels (each And, Or, Not and operator is one)', String(limits.depth)],
        ['nodes (each And, Or, Not and path is one)', String(limits.nodes)],
        ['bytes of JSON', String(limits.bytes)],
        ['items of a list', String(limits.items)],
        ['whole numbers', '±(2^53−1)'],
      ],
    ),
    'A condition that exceeds a limit, or has an unknown operator, a malformed path, an empty object or list, or a literal of the wrong type, is refused when the permission is written: 400 [INVALID_CONDITION](errors.md#invalid_condition), whose `details` name each place.',
  );
}
