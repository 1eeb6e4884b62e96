import { createHash } from 'node:crypto';
import type { EndedCredentials, SnapshotRows } from '@doorward/decision/snapshot-claims';
import type { Database } from '../../db/connection/open.ts';
import { createJsonSize } from './rows/limits.ts';
import { readContent, serializeRows, type ReadContent, type ReadOptions } from './rows/read-content.ts';

/** The content of a snapshot at one time, with its version. */
export interface Content extends ReadContent {
  /** A digest of the whole content, so it is equal in every process for equal rows. */
  readonly version: string;
  /** A digest of everything except the ended credentials, which are read more often than the rest. */
  readonly digest: string;
  /** The length of the content as JSON. */
  readonly bytes: number;
}

/** Loads the content. `nouns`: slugs of the built-in resources, sorted. @throws SNAPSHOT_TOO_LARGE */
export async function loadContent(
  database: Database,
  options: ReadOptions,
  nouns: readonly string[],
): Promise<Content> {
  const read = await readContent(database, options);
  const hash = createHash('sha256');
  hash.update(JSON.stringify([1, options.scope.attributes, options.filter, nouns]));
  if (read.organization) hash.update(JSON.stringify(read.organization));
  const size = createJsonSize();
  const { ended, ...others } = read.rows;
  await serializeRows(others, size, (json) => hash.update(json));
  const digest = hash.digest('base64url');
  size.add(JSON.stringify(ended));
  return { ...read, digest, version: versionOf(digest, ended), bytes: size.bytes };
}

/** Returns the content with other ended credentials. */
export const withEnded = (content: Content, ended: EndedCredentials, changesAt: number | null): Content => ({
  ...content,
  rows: { ...content.rows, ended } satisfies SnapshotRows,
  version: versionOf(content.digest, ended),
  endedChangesAt: changesAt,
});

const versionOf = (digest: string, ended: EndedCredentials): string =>
  createHash('sha256')
    .update(`${digest} ${JSON.stringify(ended)}`)
    .digest('base64url');
