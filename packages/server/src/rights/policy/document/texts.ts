import { fail, type Detail } from '../../../errors.ts';
import { fixOf } from '../../../kernel/input/fix.ts';
import { dotted } from '../../../kernel/input/validate.ts';

const MAX_DETAILS = 20;

/**
 * `secret` matches secrets, which a document must not contain; `unfilled` matches variables that the command line did
 * not replace.
 */
const secret = /dwk_|whsec_|dwr_|-----BEGIN [A-Z ]*PRIVATE KEY-----/;
const unfilled = /\$\{[A-Za-z_][A-Za-z0-9_]*\}/;

/**
 * Checks the texts of a document as it was sent, before `$${` becomes `${`.
 *
 * @throws VALIDATION_ERROR for secrets and unreplaced variables
 */
export function assertTexts(policy: unknown): void {
  const details: Detail[] = [];
  collectFaults(policy, ['policy'], details);
  const [unset] = details.filter(({ code }) => code === 'format');
  if (details.length === 0) return;
  const hint = 'write $${ for ${, or let doorward policy fill in the variable';
  const fix = unset && fixOf([{ path: unset.path, hint }], details.length);
  throw fail('VALIDATION_ERROR', { details, ...(fix === undefined ? {} : { fix }) });
}

/** Collects faults. `path` is the position of the value; it is copied only for faults, which are few. */
function collectFaults(value: unknown, path: string[], details: Detail[]): void {
  if (typeof value === 'string') {
    if (secret.test(value)) details.push({ path: dotted(path), code: 'not_allowed' });
    else if (unfilled.test(value.replaceAll('$${', ''))) details.push({ path: dotted(path), code: 'format' });
  } else if (typeof value === 'object' && value !== null) {
    for (const name of Object.keys(value)) {
      if (details.length === MAX_DETAILS) return;
      path.push(name);
      collectFaults((value as Readonly<Record<string, unknown>>)[name], path, details);
      path.pop();
    }
  }
}
