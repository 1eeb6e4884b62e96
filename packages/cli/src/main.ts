#!/usr/bin/env node
import { main } from './cli.ts';
import { exitCodes } from './exit-codes.ts';
import { installedService } from './environment/installed-service.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `Doorward needs Node 20.19 or newer, but this is ${process.version}. Install a newer one: https://nodejs.org\n`,
  );
  process.exit(1);
}

// The reader of the output may stop early, for example in `doorward users list | head -1`.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.done);
    throw error;
  });

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function onInterrupt(listener: () => void): () => void {
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}

const code = await main(process.argv.slice(2), {
  ...{ stdin: process.stdin, stdout: process.stdout, stderr: process.stderr },
  ...{ env: process.env, cwd: process.cwd() },
  onInterrupt,
  service: installedService,
});
// An interrupted command may still wait for a response, which would keep the process alive.
if (code === exitCodes.interrupted) process.exit(code);
process.exitCode = code;
