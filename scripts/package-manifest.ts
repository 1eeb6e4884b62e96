/** What package.json of a package says here, and what it says where it is published. */

/** In this order they are built: a package after those that it imports. */
export const publishedPackages = ['decision', 'node', 'browser', 'react', 'cli'] as const;
export type PublishedPackage = (typeof publishedPackages)[number];

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  /** What can be imported. */
  readonly exports?: Readonly<Record<string, string>>;
  /** Commands. */
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly scripts?: unknown;
  readonly devDependencies?: unknown;
}

/** Sources that are exported by name. Patterns are for this repository alone. */
export const exportsOf = ({ exports = {} }: Manifest): [name: string, file: string][] =>
  Object.entries(exports).filter(([name]) => !name.includes('*'));

/** The source files of the exports and commands. */
export const entriesOf = (manifest: Manifest): string[] => [
  ...exportsOf(manifest).map(([, file]) => file),
  ...Object.values(manifest.bin ?? {}),
];

/**
 * The manifest of the built package: exports of JavaScript with types, siblings of the same version, other libraries
 * with their later fixes, and nothing that runs at installation.
 */
export function publishedManifest(manifest: Manifest): object {
  const { private: _private, scripts: _scripts, devDependencies: _development, ...published } = manifest;
  const built = (file: string, extension: string) => file.replace(/\.tsx?$/, extension);
  return {
    ...published,
    ...(manifest.bin === undefined ? {} : { bin: commandsOf(manifest.bin, built) }),
    exports: {
      ...Object.fromEntries(
        exportsOf(manifest).map(([name, file]) => [
          name,
          { types: built(file, '.d.ts'), default: built(file, '.js') },
        ]),
      ),
      './package.json': './package.json',
    },
    ...(manifest.dependencies === undefined
      ? {}
      : { dependencies: versionsOf(manifest.dependencies, manifest.version) }),
    publishConfig: { access: 'public', provenance: true },
  };
}

/** Without "./", which npm would remove with a warning. */
const commandsOf = (
  bin: Readonly<Record<string, string>>,
  built: (file: string, extension: string) => string,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(bin).map(([name, file]) => [name, built(file, '.js').replace(/^\.\//, '')]),
  );

const versionsOf = (
  dependencies: Readonly<Record<string, string>>,
  version: string,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(dependencies).map(([name, range]) => [
      name,
      name.startsWith('@doorward/') ? version : /^\d/.test(range) ? `^${range}` : range,
    ]),
  );
