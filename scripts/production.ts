import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Locked {
  readonly version: string;
  readonly dev?: true;
  /** A package of this repository. */
  readonly link?: true;
  readonly devOptional?: true;
  readonly optional?: true;
  readonly integrity?: string;
}

export interface ProductionPackage {
  /** `name@version` */
  readonly id: string;
  readonly optional: boolean;
  readonly integrity: string | undefined;
}

/**
 * The production packages of the lock file, by path. `--omit=dev` of npm is not used, because it omits packages that a
 * development dependency needs too (esbuild, yaml, pg-protocol).
 */
export function productionPackages(root: string): ReadonlyMap<string, ProductionPackage> {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  return new Map(
    Object.entries(packages)
      .filter(
        ([path, { dev, devOptional, link }]) =>
          path.includes('node_modules/') && !dev && !devOptional && !link,
      )
      .map(([path, { version, optional, integrity }]) => [
        path,
        {
          id: `${path.split('node_modules/').at(-1) ?? ''}@${version}`,
          optional: optional === true,
          integrity,
        },
      ]),
  );
}

export interface Component {
  readonly type: 'library' | 'application';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses: readonly (
    { readonly license: { readonly id: string } } | { readonly expression: string }
  )[];
}

/** A bill of materials in the form of CycloneDX 1.5 (https://cyclonedx.org/docs/1.5/json/). */
export interface Bom {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.5';
  readonly version: 1;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
}

/**
 * The bill of materials of the service, as it is installed here; other platforms use other optional packages. `npm sbom
 * --omit=dev` is not used, because it omits packages that the service needs.
 *
 * @throws Error when a package is not installed
 */
export function productionBom(root: string): Bom {
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  const components = new Map<string, Component>();
  for (const [path, { id, optional, integrity }] of productionPackages(root)) {
    if (existsSync(join(root, path))) {
      components.set(
        id,
        componentOf(
          JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as Manifest,
          integrity,
        ),
      );
    } else if (!optional) throw new Error(`not installed: ${id}`);
  }
  const component: Component = { ...componentOf(own), type: 'application' };
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component },
    components: [...components.values()],
  };
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

function componentOf({ name, version, license }: Manifest, integrity?: string): Component {
  const purl = `pkg:npm/${name.replace(/^@/, '%40')}@${version}`;
  const [algorithm, digest] = integrity?.split('-') ?? [];
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    ...(algorithm === 'sha512' && digest
      ? { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }
      : {}),
    licenses:
      license === undefined
        ? []
        : [/ (?:OR|AND|WITH) /.test(license) ? { expression: license } : { license: { id: license } }],
  };
}

/** The licence that the package declares, or null. */
export const licenceOf = ({ licenses: [first] }: Component): string | null =>
  first === undefined ? null : 'expression' in first ? first.expression : first.license.id;

export type Verdict =
  | { readonly kind: 'clean' }
  | { readonly kind: 'findings'; readonly names: readonly string[] }
  | { readonly kind: 'unanswered'; readonly why: string };

interface Report {
  readonly error?: { readonly code?: string; readonly summary?: string };
  readonly message?: string;
  readonly metadata?: { readonly vulnerabilities?: object };
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly severity: string; readonly nodes: readonly string[] }>
  >;
}

/** The result of `npm audit --json` for production packages: high and critical findings, none, or no answer. */
export function auditVerdict(report: string, production: ReadonlySet<string>): Verdict {
  let read: Report;
  try {
    read = JSON.parse(report) as Report;
  } catch {
    return { kind: 'unanswered', why: 'the report cannot be read' };
  }
  const { error, message, metadata, vulnerabilities } = read;
  if (error || !metadata?.vulnerabilities || !vulnerabilities)
    return { kind: 'unanswered', why: error?.summary || error?.code || message || 'the report is empty' };
  const names = Object.entries(vulnerabilities)
    .filter(
      ([, { severity, nodes }]) =>
        /^(?:high|critical)$/.test(severity) && nodes.some((at) => production.has(at)),
    )
    .map(([name, { severity }]) => `${name} (${severity})`);
  return names.length > 0 ? { kind: 'findings', names } : { kind: 'clean' };
}
