import type { PolicyDocument } from '@doorward/decision/document/document';
import { referenceFaults, type ReferenceFault } from '@doorward/decision/document/references';
import { assertCondition } from '../../../access/condition.ts';
import type { BuiltIns } from '../../../access/built-in.ts';
import { DoorwardError, fail, type Detail } from '../../../errors.ts';
import { fixOf, useOneOf, type Hint } from '../../../kernel/input/fix.ts';

const MAX_DETAILS = 20;

/**
 * Checks that a document is consistent: each reference is a key of the document or the name of a built-in row, each
 * permission is about an action of its resource, and each condition parses.
 *
 * @throws VALIDATION_ERROR, INVALID_CONDITION, with paths that begin with `policy`
 */
export function assertConsistent(document: PolicyDocument, builtIns: BuiltIns): void {
  const names = {
    resources: builtIns.resources,
    permissions: builtIns.permissions.map(({ name }) => name),
    groups: builtIns.groups.map(({ name }) => name),
    roles: builtIns.roles,
  };
  const faults: ReferenceFault[] = [];
  // Stops after the faults that are shown, because the hint of a fault compares its name with every allowed name.
  for (const fault of referenceFaults(document, names)) if (faults.push(fault) === MAX_DETAILS) break;
  if (faults.length > 0) {
    const details = faults.map(({ path, code }) => ({ path, code }));
    const hints = faults.flatMap(({ path, hint, allowed, given }): Hint[] => {
      const text = allowed ? useOneOf(allowed, given) : hint;
      return text === undefined ? [] : [{ path, hint: text }];
    });
    const fix = fixOf(hints, details.length);
    throw fail('VALIDATION_ERROR', { details, ...(fix === undefined ? {} : { fix }) });
  }
  assertConditions(document);
}

/** Checks all conditions. @throws INVALID_CONDITION with the problems of all conditions, 20 at most */
function assertConditions({ permissions }: PolicyDocument): void {
  const details: Detail[] = [];
  let fix: string | undefined;
  for (const [key, { condition }] of Object.entries(permissions)) {
    try {
      assertCondition(condition, `policy.permissions.${key}.condition`);
    } catch (error) {
      if (!(error instanceof DoorwardError)) throw error;
      details.push(...(error.extras.details ?? []));
      fix ??= error.extras.fix;
    }
    if (details.length >= MAX_DETAILS) break;
  }
  if (details.length > 0)
    throw fail('INVALID_CONDITION', {
      details: details.slice(0, MAX_DETAILS),
      ...(fix === undefined ? {} : { fix }),
    });
}
