/** Mutants that no test can kill, each with the reason; named as `keyOf` names them. */
const because = (reason: string, ...mutants: readonly string[]) =>
  mutants.map((mutant) => ({ mutant, reason }));

export const equivalents: readonly { readonly mutant: string; readonly reason: string }[] = [
  ...because(
    'A mark that is compared with itself only.',
    'src/access/built-in.ts: \'all\' → "" (1)',
    'src/access/built-in.ts: \'none\' → "" (1)',
  ),
  ...because(
    'The compiler wants it: the value is always there.',
    'src/access/built-in.ts: \'\' → "another" (1)',
    'src/access/built-in.ts: ?. → . (1)',
    'src/access/built-in.ts: [] → ["another"] (3)',
    'src/access/cidrs.ts: \'\' → "another" (1)',
    'src/access/cidrs.ts: \'\' → "another" (2)',
    'src/access/cidrs.ts: \'\' → "another" (3)',
    'src/access/conditions-parse.ts: \'\' → "another" (1)',
    'src/access/effective.ts: \'\' → "another" (1)',
    'src/access/effective.ts: \'\' → "another" (2)',
    'src/access/effective.ts: ?. → . (2)',
    'src/access/explain.ts: \'\' → "another" (1)',
    'src/access/explain.ts: \'\' → "another" (2)',
    'src/access/guard.ts: \'\' → "another" (1)',
    'src/access/guard.ts: \'\' → "another" (2)',
  ),
  ...because(
    'No action is in it, so what follows finds nothing held and returns too.',
    'src/access/built-in.ts: allotment === none → false (1)',
  ),
  ...because(
    'A short cut for what sockets say: the general way below gives the same.',
    'src/access/cidrs.ts: address.startsWith(mappedPrefix) && isIP(address.slice(mappedPrefix.length)) === 4 → false (1)',
    'src/access/cidrs.ts: startsWith → endsWith (1)',
    'src/access/cidrs.ts: isIP(address.slice(mappedPrefix.length)) === 4 → false (1)',
    'src/access/cidrs.ts: .slice(mappedPrefix.length) →  (1)',
    'src/access/cidrs.ts: {\n    return address.slice(mappedPrefix.length);\n  } → {} (1)',
  ),
  ...because('Any number of groups but two means the same.', 'src/access/cidrs.ts: [] → ["another"] (1)'),
  ...because(
    'Every operator answers unknown to undefined by itself; the line is there for the next operator.',
    'src/access/conditions-eval.ts: left === undefined || right === undefined → false (1)',
    'src/access/conditions-eval.ts: left === undefined || right === undefined → (left === undefined) && (right === undefined) (1)',
    'src/access/conditions-eval.ts: left === undefined → false (1)',
    'src/access/conditions-eval.ts: right === undefined → false (1)',
  ),
  ...because(
    'A short cut: a list without references is read once and not every time.',
    "src/access/conditions-eval.ts: operand.items.some((item) => 'path' in item) → true (1)",
  ),
  ...because(
    'The name of a rule that no code compares with: what no other rule takes are texts.',
    'src/access/conditions-parse.ts: \'string\' → "" (1)',
    'src/access/conditions-parse.ts: \'string\' → "" (2)',
    'src/access/conditions-parse.ts: \'string\' → "" (5)',
  ),
  ...because(
    'undefined is as little true.',
    'src/access/conditions-parse.ts: {\n    return false;\n  } → {} (1)',
  ),
  ...because(
    'A placeholder beside a problem, which the caller drops.',
    "src/access/conditions-parse.ts: { kind: 'and', nodes: [] } → {} (1)",
    'src/access/conditions-parse.ts: \'and\' → "" (1)',
    'src/access/conditions-parse.ts: [] → ["another"] (2)',
    'src/access/conditions-parse.ts: [] → ["another"] (3)',
  ),
  ...because(
    'Whatever is neither a leaf, nor not, nor and, is or.',
    'src/access/conditions-parse.ts: \'or\' → "" (1)',
  ),
  ...because(
    'Where one is missing a problem was reported, and the node is dropped.',
    'src/access/conditions-parse.ts: path && operand → true (1)',
    'src/access/conditions-parse.ts: path && operand → (path) || (operand) (1)',
    'src/access/conditions-parse.ts: .filter((item) => item !== undefined) →  (1)',
    'src/access/conditions-parse.ts: item !== undefined → true (1)',
  ),
  ...because(
    'For the compiler: no number, truth or null has such a character in its text.',
    "src/access/conditions-parse.ts: typeof value === 'string' → true (2)",
  ),
  ...because(
    'A short cut: an And of one is that one.',
    'src/access/conditions-parse.ts: nodes.length === 1 && first → false (1)',
    'src/access/conditions-parse.ts: nodes.length === 1 → false (1)',
  ),
  ...because(
    'null is written as null by the general way too.',
    'src/access/conditions.ts: raw === null → false (1)',
  ),
  ...because(
    'Where the problems are is not asked of a stored condition.',
    'src/access/conditions.ts: \'\' → "another" (1)',
  ),
  ...because(
    'A function without a return gives undefined.',
    'src/access/conditions.ts: {\n    return undefined; // only objects with throwing getters come here; JSON has none\n  } → {} (1)',
  ),
  ...because(
    'A short cut: the comparison below finds the same scope.',
    'src/access/evaluate.ts: `${resource}:${action}` → "" (1)',
  ),
  ...because(
    'There are at most three kinds, as many as may be named.',
    'src/access/explain.ts: .slice(0, limits.nearest) →  (1)',
  ),
  ...because(
    'metadata as a whole: what would be set then has no name, and no condition reads that.',
    'src/access/explain.ts: key.length === 0 → false (1)',
  ),
  ...because(
    'Without metadata nothing that reads it is met, so that no remedy comes of it.',
    'src/access/explain.ts: !metadata → false (1)',
  ),
  ...because(
    'A hint that is undefined is left out of the answer.',
    'src/access/guard.ts: fixes[reason] → true (1)',
  ),
];
