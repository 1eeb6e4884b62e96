import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** One version for everything that is released, and its entry in the changelog. */
const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}
const manifest = (file: string) => JSON.parse(read(file)) as Manifest;
const { version } = manifest('package.json');
const foldersOf = (folder: string) =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${folder}/${name}`);
const manifestsOf = (folder: string) =>
  foldersOf(folder).flatMap((path) => {
    try {
      return [manifest(`${path}/package.json`)];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  });

describe(`version ${version}`, () => {
  it('is that of every package, also in the lock file', () => {
    const packages = manifestsOf('packages');
    expect(packages.length).toBeGreaterThan(6);
    expect(packages.filter((item) => item.version !== version)).toEqual([]);
    const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, Manifest> };
    const locked = Object.entries(lock.packages).filter(
      ([path]) => path === '' || /^packages\/\w+$/.test(path),
    );
    expect(locked.length).toBe(packages.length + 1);
    expect(locked.filter(([, item]) => item.version !== version)).toEqual([]);
  });

  it('is what the examples install', () => {
    const ranges = manifestsOf('examples').flatMap(({ dependencies = {} }) =>
      Object.entries(dependencies).filter(([name]) => name.startsWith('@doorward/')),
    );
    expect(ranges.length).toBeGreaterThan(3);
    expect(ranges.filter(([, range]) => range !== `^${version}`)).toEqual([]);
  });

  it('has an entry with a date in the changelog, in which releases go from new to old', () => {
    const headings = [...read('CHANGELOG.md').matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);
    const [unreleased, latest, ...others] = headings;
    expect(unreleased).toBe('[Unreleased]');
    expect(latest).toMatch(new RegExp(`^\\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d\\d-\\d\\d$`));
    const dates = [latest, ...others].map((heading) => heading?.slice(-10) ?? '');
    expect(dates).toEqual([...dates].sort().reverse());
  });
});
