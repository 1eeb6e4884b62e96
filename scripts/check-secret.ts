/**
 * Searches text for secrets of API keys or project apps and reports which are well formed. It needs no service. Without
 * arguments it reads standard input, so that a secret does not enter the history of the shell. Exit code 0: at least one is
 * well formed, else 1.
 *
 * @example npm run check-secret < suspicious.txt
 */
import { text } from 'node:stream/consumers';
import { isDoorwardSecret } from '../packages/server/src/crypto/tokens/secrets.ts';

const given = process.argv.slice(2).join('\n') || (await text(process.stdin));
const candidates = given.match(/(?<![\w-])dw[ks]_[\w-]+/g) ?? [];
for (const candidate of candidates) {
  const verdict = isDoorwardSecret(candidate) ? 'well formed' : 'not a secret of Doorward';
  // The start is enough to find the secret; the complete secret must not be copied into the output.
  console.log(`${candidate.slice(0, 12)}… ${verdict}`);
}
process.exitCode = candidates.some(isDoorwardSecret) ? 0 : 1;
