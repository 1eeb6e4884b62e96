/**
 * A parameter that several operations have in the same form stands once under `components.parameters`, by its name; of
 * several forms of one name the most frequent does, and the others stay where they are.
 */
interface Parameter {
  readonly name: string;
}
interface WithParameters {
  parameters?: readonly object[];
}

export function shareParameters(entries: readonly WithParameters[]): Record<string, object> {
  const uses = new Map<string, { readonly parameter: Parameter; count: number }>();
  for (const parameter of entries.flatMap(({ parameters = [] }) => parameters as Parameter[])) {
    const key = JSON.stringify(parameter);
    const use = uses.get(key) ?? { parameter, count: 0 };
    uses.set(key, { ...use, count: use.count + 1 });
  }
  const shared = new Map<string, { readonly key: string; readonly count: number }>();
  for (const [key, { parameter, count }] of uses) {
    if (count > 1 && count > (shared.get(parameter.name)?.count ?? 0))
      shared.set(parameter.name, { key, count });
  }
  for (const entry of entries) {
    if (!entry.parameters) continue;
    entry.parameters = (entry.parameters as Parameter[]).map((parameter) =>
      shared.get(parameter.name)?.key === JSON.stringify(parameter)
        ? { $ref: `#/components/parameters/${parameter.name}` }
        : parameter,
    );
  }
  return Object.fromEntries(
    [...shared]
      .map(([name, { key }]) => [name, JSON.parse(key) as object] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
