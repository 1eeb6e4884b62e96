import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { JSONWebKeySet } from 'jose';
import { checkpointReader } from '../src/events/read-checkpoint.ts';
import { verifyChains, type ChainReport } from '../src/events/verify-chain.ts';

/**
 * Proves a file of `GET /api/audit-logs/export`: npm run verify-audit -- file.ndjson [options]. It needs the file alone,
 * and no access to the service. Exit code 0: proven; 1: a bad line; 2: it could not be checked.
 */
const usage = `npm run verify-audit -- <file.ndjson> [options]

  --jwks <file|URL>     published keys of the service, to check signed checkpoints
  --expect-last <hash>  the hash with which the file must end, known from elsewhere
  --open-end            the export was cut by "to": its end cannot be proven
  --filtered            the export is of chosen entries: each is proven in itself, gaps are none
`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      jwks: { type: 'string' },
      'expect-last': { type: 'string' },
      'open-end': { type: 'boolean', default: false },
      filtered: { type: 'boolean', default: false },
    },
  });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new Error('name one file');
  const expected = values['expect-last'];
  const { filtered } = values;
  const end =
    expected !== undefined
      ? { hash: expected }
      : filtered || values['open-end']
        ? ('unknown' as const)
        : ('own entry' as const);
  const readCheckpoint = values.jwks === undefined ? undefined : checkpointReader(await keysOf(values.jwks));
  const { fault, chains } = await verifyChains(linesOf(file), { filtered, readCheckpoint, end });
  if (fault) {
    const entry = fault.sequence === null ? '' : `, entry ${fault.sequence}`;
    process.stdout.write(`BAD  line ${fault.line}${entry}: ${fault.kind}. ${fault.detail}.\n`);
    if (fault.kind === 'missing before it') {
      process.stdout.write('     An export with filters other than times has gaps: see --filtered.\n');
    }
    return 1;
  }
  for (const chain of chains) process.stdout.write(told(chain, filtered, readCheckpoint !== undefined));
  return 0;
}

function told(chain: ChainReport, filtered: boolean, signatures: boolean): string {
  const { node, first, last, lastHash, entries, erased, signedUpTo, endProven } = chain;
  const signed = signedUpTo === null ? 'no signature covers it' : `signed up to entry ${signedUpTo}`;
  const parts = filtered
    ? [`${entries} entries, each proven in itself; what lies between them is not in the file`]
    : [
        `${entries} entries, ${first} to ${last}, are one chain`,
        ...(first === 1 ? [] : ['what is before them is not in the file']),
        ...(endProven ? [] : ['whether more follow is not proven']),
      ];
  if (erased > 0) parts.push(`${erased} without what was personal in them`);
  if (signatures) parts.push(signed);
  return `OK   ${node}: ${parts.join('; ')}. Last hash ${lastHash}\n`;
}

async function keysOf(place: string): Promise<JSONWebKeySet> {
  if (!/^https?:\/\//.test(place)) return JSON.parse(await readFile(place, 'utf8')) as JSONWebKeySet;
  const answer = await fetch(place, { signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) throw new Error(`${place} answered ${answer.status}`);
  return (await answer.json()) as JSONWebKeySet;
}

/** Lines end with a line feed and nothing else: other separators may stand inside an entry. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of createReadStream(file, 'utf8') as AsyncIterable<string>) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  return 2;
});
