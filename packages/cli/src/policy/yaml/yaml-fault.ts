import type * as Yaml from 'yaml';

/** A problem with YAML that the parser accepts but a policy can't contain. */
interface YamlFault {
  readonly offset: number;
  readonly message: string;
}

type Path = readonly unknown[];

const MAX_ALIASES = 100;

/**
 * Finds the first alias that can't be expanded, number that JSON would change, or key that JSON parsers refuse. The
 * `yaml` module is a parameter, because only the commands that need the parser load it.
 */
export function faultIn(document: Yaml.Document, yaml: typeof Yaml): YamlFault | undefined {
  const anchors = new Map<string, Anchored>();
  const aliases = new Map<Yaml.Node, Anchored>();
  let fault: YamlFault | undefined;
  const refuse = (node: Yaml.Node, message: string): symbol => {
    fault = { offset: node.range?.[0] ?? 0, message };
    return yaml.visit.BREAK;
  };
  yaml.visit(document, {
    Pair(_, { key }) {
      if (yaml.isScalar(key) && key.value === '__proto__')
        return refuse(key, '__proto__ is not allowed as a key.');
      return undefined;
    },
    // Runs for a node before its children, so that an alias inside an anchored node finds that anchor.
    Node(_, node, path) {
      if (yaml.isAlias(node)) {
        const anchored = anchors.get(node.source);
        if (!anchored) return refuse(node, `The anchor ${node.source} isn't defined above this alias.`);
        if (path.includes(anchored.node))
          return refuse(node, `The anchor ${node.source} contains an alias to itself.`);
        aliases.set(node, anchored);
        anchored.uses += 1;
        anchored.inside ??= usesInside(anchored.node, aliases, yaml);
        return anchored.uses * anchored.inside > MAX_ALIASES
          ? refuse(node, `Aliases may expand the file ${MAX_ALIASES}-fold at most.`)
          : undefined;
      }
      if (node.anchor !== undefined) anchors.set(node.anchor, { node, uses: 0, inside: undefined });
      if (yaml.isScalar(node) && isChangedByJson(node))
        return refuse(
          node,
          `${pathOf(path, node, yaml)} JSON can't represent this number: quote it, or use a different one.`,
        );
      return undefined;
    },
  });
  return fault;
}

/** A node with an anchor. `uses` counts its aliases; `inside` is how often one copy repeats a node that it contains. */
interface Anchored {
  readonly node: Yaml.Node;
  uses: number;
  inside: number | undefined;
}

function usesInside(node: Yaml.Node, aliases: ReadonlyMap<Yaml.Node, Anchored>, yaml: typeof Yaml): number {
  let most = 1;
  yaml.visit(node, {
    Alias(_, alias) {
      const { uses = 1, inside = 1 } = aliases.get(alias) ?? {};
      most = Math.max(most, uses * (inside ?? 1));
    },
  });
  return most;
}

const wholeNumber = /^[-+]?(\d+|0o[0-7]+|0x[\da-f]+)$/i;

/** Whether JSON would change a number: large integers lose digits, and infinity becomes null. */
function isChangedByJson({ value, source = '' }: Yaml.Scalar): boolean {
  if (typeof value !== 'number') return false;
  return !Number.isFinite(value) || (wholeNumber.test(source) && !Number.isSafeInteger(value));
}

/** Returns the path of a node, such as `roles.Clerk.metadata.limit`. */
function pathOf(ancestors: Path, node: Yaml.Node, yaml: typeof Yaml): string {
  const nodes = [...ancestors, node];
  return nodes
    .flatMap((step, index): string[] => {
      if (yaml.isPair(step)) return [String(yaml.isScalar(step.key) ? step.key.value : '')];
      return yaml.isSeq(step) ? [String(step.items.indexOf(nodes[index + 1]))] : [];
    })
    .join('.');
}
