import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { publishedPackages } from './package-manifest.ts';
import { productionBom } from './production.ts';

/** What a release consists of beside its image: a tarball for each package, the bill of materials, and their checksums. */
export interface ReleaseFiles {
  /** By the folder of the package; the service is `doorward`. */
  readonly tarballs: Readonly<Record<(typeof publishedPackages)[number] | 'doorward', string>>;
  /** Paths of all files, the checksums last. */
  readonly files: readonly string[];
}

/** Packs what `npm run packages` built. */
export async function writeReleaseFiles(root: string, directory: string): Promise<ReleaseFiles> {
  const tarballs = { doorward: await pack(join(root, 'dist/doorward'), directory) } as Record<string, string>;
  for (const name of publishedPackages)
    tarballs[name] = await pack(join(root, 'packages', name, 'dist'), directory);
  const bom = join(directory, 'sbom.json');
  await writeFile(bom, `${JSON.stringify(productionBom(root), null, 2)}\n`);
  const files = [...Object.values(tarballs), bom].sort();
  const sums = join(directory, 'SHA256SUMS');
  // In the form of sha256sum, which checks it: sha256sum -c SHA256SUMS
  const lines = files.map(async (file) => {
    const digest = createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
    return `${digest}  ${file.slice(directory.length + 1)}\n`;
  });
  await writeFile(sums, (await Promise.all(lines)).join(''));
  return { tarballs: tarballs as ReleaseFiles['tarballs'], files: [...files, sums] };
}

async function pack(folder: string, destination: string): Promise<string> {
  // Settings of the npm that runs this script are not for the npm that packs.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  const args = ['pack', '--json', '--pack-destination', destination];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: folder, env, maxBuffer: 1e8 });
  const [packed] = JSON.parse(stdout) as [{ filename: string }];
  return join(destination, packed.filename);
}
