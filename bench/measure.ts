import autocannon from 'autocannon';
import { readFile } from 'node:fs/promises';
import pg from 'pg';

/**
 * Load, and what it cost. Loads take turns in rounds, so that whatever else the machine does meets all of them, and the
 * median of the rounds counts. Requests a second are disturbed by the load generator, which shares the cores with what it
 * measures; time of the processor for each request, which the kernel counts for each process, hardly is.
 */
export interface Load {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  /** Requests take turns. */
  readonly bodies?: readonly string[];
  readonly connections?: number;
  /** Processes whose time is counted: those that serve. */
  readonly pids: readonly number[];
  /** Of the database that they use, whose time is counted too. */
  readonly database?: string | undefined;
}

export interface Measured {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Microseconds of processor time for each request, of the service and of its PostgreSQL. */
  readonly cpuMicros: number;
  readonly databaseCpuMicros: number | null;
}

/** Of loads that took turns. */
export interface InTurn extends Measured {
  /** Requests a second of each round. */
  readonly rates: readonly number[];
}

/** One against another that took turns with it: the median of the rounds, whose neighbours met the same machine. */
export const ratioOf = (one: InTurn, other: InTurn): number =>
  median(one.rates.map((rate, round) => rate / (other.rates[round] ?? rate)));

export interface Pace {
  readonly seconds: number;
  readonly rounds: number;
  readonly warmUpSeconds: number;
  /** After which memory is looked at again. */
  readonly checks: number;
}

export const CONNECTIONS = 64;

export const say = (text: string): void => void process.stderr.write(`${text}\n`);

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
};

/**
 * Loads by turns; `eachRound` takes a turn too.
 * @throws when anything but a success is answered: then nothing was measured
 */
export async function measure(
  loads: readonly Load[],
  pace: Pace,
  eachRound: () => Promise<void> = async () => undefined,
): Promise<InTurn[]> {
  for (const load of loads) {
    // Each question once, so that what is measured is what comes again.
    if ((load.bodies?.length ?? 0) > CONNECTIONS) await fire(load, { amount: load.bodies?.length ?? 0 });
    await fire(load, { duration: pace.warmUpSeconds });
  }
  const rounds = loads.map((): Measured[] => []);
  for (let round = 0; round < pace.rounds; round++) {
    await eachRound();
    for (const [place, load] of loads.entries())
      rounds[place]?.push(await fire(load, { duration: pace.seconds }));
  }
  return rounds.map((each) => ({
    perSecond: median(each.map(({ perSecond }) => perSecond)),
    p50: median(each.map(({ p50 }) => p50)),
    p99: median(each.map(({ p99 }) => p99)),
    cpuMicros: median(each.map(({ cpuMicros }) => cpuMicros)),
    databaseCpuMicros:
      typeof each[0]?.databaseCpuMicros !== 'number'
        ? null
        : median(each.map((one) => one.databaseCpuMicros ?? 0)),
    rates: each.map(({ perSecond }) => perSecond),
  }));
}

export async function fire(
  load: Load,
  length: { readonly duration: number } | { readonly amount: number },
): Promise<Measured> {
  const { url, method = 'POST', headers, bodies = [], connections = CONNECTIONS } = load;
  const before = await spent(load);
  let next = 0;
  const result = await autocannon({
    url,
    method,
    connections,
    ...length,
    headers: { ...(bodies.length > 0 && { 'content-type': 'application/json' }), ...headers },
    ...(bodies.length > 0 && {
      body: bodies[0] ?? '',
      setupClient(client: autocannon.Client) {
        const turn = () => client.setBody(bodies[next++ % bodies.length] ?? '');
        turn();
        if (bodies.length > connections) client.on('response', turn);
      },
    }),
  });
  const { non2xx, errors, timeouts, requests, latency } = result;
  if (non2xx + errors + timeouts > 0) {
    throw new Error(`${url}: ${non2xx} answers were no success, ${errors} errors, ${timeouts} timeouts`);
  }
  if (requests.total === 0) throw new Error(`${url}: nobody was answered in time`);
  const after = await spent(load);
  const each = (seconds: number) => (seconds * 1e6) / requests.total;
  return {
    perSecond: requests.total / result.duration,
    p50: latency.p50,
    p99: latency.p99,
    cpuMicros: each(between(before.service, after.service)),
    databaseCpuMicros: load.database === undefined ? null : each(between(before.database, after.database)),
  };
}

type Spent = ReadonlyMap<number, number>;

async function spent({ pids, database }: Load): Promise<{ service: Spent; database: Spent }> {
  const each = async (of: readonly number[]) =>
    new Map(await Promise.all(of.map(async (pid) => [pid, await cpuSeconds(pid)] as const)));
  return {
    service: await each(pids),
    database: await each(database === undefined ? [] : await backends(database)),
  };
}

/** A connection that was opened meanwhile counts from its start; what one did that is closed by now is not known. */
const between = (before: Spent, after: Spent): number =>
  [...after].reduce((sum, [pid, seconds]) => sum + seconds - (before.get(pid) ?? 0), 0);

/** In a hundredth of a second, as the kernel counts. 0 for a process that is gone, or on another machine. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // Behind the name, which may have blanks and brackets in it: the third field is the first there.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100;
}

/** Resident memory in MB, now and at its peak. */
export async function memoryOf(pid: number): Promise<{ now: number; peak: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024;
  return { now: of('VmRSS'), peak: of('VmHWM') };
}

/** Connections of services. */
export async function backends(url: string): Promise<number[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>(
      // Neither whoever fills tables nor a vacuum that is just going on.
      `select pid from pg_stat_activity where datname = current_database() and application_name = 'doorward'`,
    );
    return rows.map(({ pid }) => pid);
  } finally {
    await client.end();
  }
}
