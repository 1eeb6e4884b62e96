import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import type { ChainReport, CheckpointKey, ExportFault } from '@doorward/node/audit';
import type { Command } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { usageFault } from '../fault.ts';
import { fileText } from '../input/json-input.ts';
import { visible } from '../output/text.ts';
import type { Run } from '../run.ts';
import { serviceUrl } from '../settings/settings.ts';

export const auditVerify: Command = {
  path: ['audit', 'verify'],
  summary: 'Prove an exported audit log, from the file alone',
  description: 'Exit code 0: proven; 1: a bad entry; 2: it could not be checked.',
  arguments: { '<file>': 'an export in ndjson' },
  options: {
    '--jwks <file|url>': 'published keys of the service, to check signed checkpoints',
    '--expect-last <hash>': 'the hash with which the file must end, known from elsewhere',
    '--open-end': 'the export was cut by --to: its end cannot be proven',
    '--filtered': 'the export has only chosen entries: each is verified alone, and gaps are no fault',
  },
  async run(run, [file = ''], options) {
    const { checkpointReader, verifyExport } = await import('@doorward/node/audit');
    const filtered = options.flag('filtered');
    const hash = options.text('expectLast');
    const openEnd = filtered || options.flag('openEnd');
    const jwks = options.text('jwks');
    const readCheckpoint = jwks === undefined ? undefined : checkpointReader(await keysOf(run, jwks));
    const end = hash !== undefined ? { hash } : openEnd ? ('unknown' as const) : ('own entry' as const);
    const { fault, chains } = await verifyExport(linesOf(run, file), { filtered, readCheckpoint, end });
    const lines = fault
      ? badLines(fault)
      : chains.map((chain) => goodLine(chain, filtered, readCheckpoint !== undefined));
    run.terminal.answer(lines.join('\n'), { proven: fault === null, fault, chains });
    return fault ? exitCodes.negative : exitCodes.done;
  },
};

function badLines({ line, sequence, kind, detail }: ExportFault): string[] {
  const entry = sequence === null ? '' : `, entry ${sequence}`;
  const lines = [`BAD  line ${line}${entry}: ${kind}. ${visible(detail)}.`];
  if (kind === 'missing before it')
    lines.push('     An export with filters other than times has gaps: see --filtered.');
  return lines;
}

function goodLine(chain: ChainReport, filtered: boolean, signatures: boolean): string {
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
  return `OK   ${visible(node)}: ${parts.join('; ')}. Last hash ${visible(lastHash)}`;
}

async function keysOf(run: Run, place: string): Promise<readonly CheckpointKey[]> {
  const isAddress = /^https?:\/\//.test(place);
  const text = isAddress
    ? await fetched(place, run.log, run.flags.timeoutMs ?? 10_000)
    : await fileText(run, '--jwks', place);
  try {
    const { keys } = JSON.parse(text) as { keys: CheckpointKey[] };
    if (Array.isArray(keys)) return keys;
  } catch {
    // Invalid JSON causes the same fault as JSON without keys, below.
  }
  throw usageFault(`${place} has no key set.`, 'the service publishes it at /.well-known/audit-jwks.json');
}

async function fetched(address: string, log: Run['log'], timeoutMs: number): Promise<string> {
  serviceUrl(address);
  const answer = await log.fetch(address, { signal: AbortSignal.timeout(timeoutMs) }).catch(() => undefined);
  if (!answer?.ok) throw usageFault(`${address} gives no key set${answer ? ` (${answer.status})` : ''}.`);
  return answer.text();
}

/** Splits at line feeds only, because an entry may contain other line separators. */
async function* linesOf({ cwd }: Run, file: string): AsyncGenerator<string> {
  let rest = '';
  try {
    for await (const piece of createReadStream(resolve(cwd, file), 'utf8') as AsyncIterable<string>) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch (error) {
    throw usageFault(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`);
  }
  if (rest !== '') yield rest;
}
