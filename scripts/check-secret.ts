/**
 * Tells which of the texts given look like secrets of API keys or project apps, and which of them are well formed, without asking any
 * service. Standard input is read when no text is given, so that a secret need not stand in the shell's history.
 * Ends with 0 when one is well formed, else with 1.
 *
 * @example npm run check-secret < suspicious.txt
 */
import { text } from 'node:stream/consumers';
import { isDoorwardSecret } from '../src/crypto/secrets.ts';

const given = process.argv.slice(2).join('\n') || (await text(process.stdin));
const candidates = given.match(/(?<![\w-])dw[ks]_[\w-]+/g) ?? [];
for (const found of candidates) {
  const verdict = isDoorwardSecret(found) ? 'well formed' : 'not a secret of Doorward';
  // Enough to find it again, and no second copy of it.
  console.log(`${found.slice(0, 12)}… ${verdict}`);
}
process.exitCode = candidates.some(isDoorwardSecret) ? 0 : 1;
