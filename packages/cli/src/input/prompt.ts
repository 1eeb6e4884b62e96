import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Terminal } from '../output/terminal.ts';
import { usageFault } from '../fault.ts';

/** Questions on stderr, so that stdout has results only. The signal ends them. */

export async function askText(question: string, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // Ctrl-C arrives here as a key, not as a signal.
    lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    return (await lines.question(question, { signal })).trim();
  } finally {
    lines.close();
  }
}

/** The same without an echo. */
export async function askSecret(question: string, signal: AbortSignal): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  // The terminal stops its echo here, before the question is shown.
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    process.stderr.write(question);
    lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    return (await lines.question('', { signal })).trim();
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}

/** A secret from a hidden prompt, or a line of stdin. */
export async function readSecret(name: string, terminal: Terminal, signal: AbortSignal): Promise<string> {
  const text = terminal.canAsk ? await askSecret(`${name}: `, signal) : (await readStdin()).trim();
  if (text === '' || /\s/.test(text)) throw usageFault(`${name} is missing.`, 'type it, or pipe it in');
  return text;
}

export async function readStdin(): Promise<string> {
  process.stdin.setEncoding('utf8');
  let text = '';
  for await (const part of process.stdin) text += String(part);
  return text;
}
