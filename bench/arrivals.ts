/**
 * A load as a process of its own, so that sending it costs the asking side nothing: requests over raw sockets, by turns,
 * either a fixed number under way at a time (`closed`), or a fixed number a second however many are still unanswered
 * (`open`). Reads its task from standard input and prints what became of it, both JSON.
 *
 * `{n}` in a request is a number that no other request has, always ten digits long.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Task {
  readonly port: number;
  /** Whole requests, as they go over the wire. */
  readonly requests: readonly string[];
  readonly seconds: number;
  /** Most connections; with `perSecond` null, how many requests are under way at a time. */
  readonly connections: number;
  readonly perSecond: number | null;
}

export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface Told {
  /** Answers by status; 0: the connection ended without one. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Milliseconds from when a request was due to its whole answer. */
  readonly served: Quantiles;
  readonly shed: Quantiles;
  /** Requests that were due while every connection was in use: the sender's limit, not the service's. */
  readonly unsent: number;
  /** Shed answers without `Retry-After`. */
  readonly unhinted: number;
  /** By how much the sender itself was late. */
  readonly late: Quantiles;
}

const task = JSON.parse(await read()) as Task;
const requests = task.requests.map((text) => Buffer.from(text));
const places = requests.map((request) => request.indexOf('{n}'));

const statuses: Record<string, number> = {};
const served: number[] = [];
const shed: number[] = [];
const late: number[] = [];
const idle: Socket[] = [];
const dueOf = new WeakMap<Socket, number>();
let open = 0;
let unsent = 0;
let unhinted = 0;
let turn = 0;
let over = false;

function requestOf(number: number): Buffer {
  const index = number % requests.length;
  const [request, place] = [requests[index] as Buffer, places[index] as number];
  if (place < 0) return request;
  const own = Buffer.from(request);
  own.write(String(number).padStart(10, '0'), place);
  return own;
}

function send(socket: Socket, due: number): void {
  dueOf.set(socket, due);
  socket.write(requestOf(turn++));
}

function newSocket(): Socket {
  open++;
  const socket = connect(task.port, '127.0.0.1');
  socket.setNoDelay(true);
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    // A connection that has not asked anything for long is told so, and closed: that is no answer to a request.
    if (!dueOf.has(socket)) return;
    text += chunk.toString('latin1');
    const head = text.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0);
    if (text.length < head + 4 + length) return;
    answered(socket, text.slice(9, 12), /\r\nretry-after: /i.test(text.slice(0, head)));
    text = text.slice(head + 4 + length);
    if (over) socket.destroy();
    else if (task.perSecond === null) send(socket, performance.now());
    else idle.push(socket);
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    open--;
    const place = idle.indexOf(socket);
    if (place >= 0) idle.splice(place, 1);
    if (dueOf.has(socket)) answered(socket, '0', true);
  });
  return socket;
}

function answered(socket: Socket, status: string, hinted: boolean): void {
  const ms = performance.now() - (dueOf.get(socket) ?? 0);
  dueOf.delete(socket);
  statuses[status] = (statuses[status] ?? 0) + 1;
  if (status.startsWith('2')) served.push(ms);
  if (status !== '503') return;
  shed.push(ms);
  if (!hinted) unhinted++;
}

const quantiles = (values: number[]): Quantiles => {
  values.sort((a, b) => a - b);
  const at = (share: number) => values[Math.min(values.length - 1, Math.floor(share * values.length))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
};

if (task.perSecond !== null) await openAll();
const began = performance.now();
const until = began + task.seconds * 1000;
if (task.perSecond === null) {
  for (let count = 0; count < task.connections; count++) send(newSocket(), performance.now());
  await sleep(task.seconds * 1000);
} else {
  const gap = 1000 / task.perSecond;
  for (let due = began; due < until; due += gap) {
    while (due > performance.now()) await sleep(1);
    late.push(Math.max(0, performance.now() - due));
    const socket = idle.pop() ?? (open < task.connections ? newSocket() : undefined);
    if (socket) send(socket, due);
    else unsent++;
  }
}
over = true;
for (const deadline = performance.now() + 10_000; open > idle.length && performance.now() < deadline;)
  await sleep(10);
const told: Told = {
  statuses,
  served: quantiles(served),
  shed: quantiles(shed),
  unsent,
  unhinted,
  late: quantiles(late),
};
process.stdout.write(JSON.stringify(told), () => process.exit(0));

/** Connections are opened before the load: Node 20 accepts one in each turn of its event loop, and that is not asked here. */
async function openAll(): Promise<void> {
  for (let count = 0; count < task.connections; count++) {
    const socket = newSocket();
    await once(socket, 'connect');
    idle.push(socket);
  }
}

async function read(): Promise<string> {
  let text = '';
  process.stdin.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(process.stdin, 'end');
  return text;
}
