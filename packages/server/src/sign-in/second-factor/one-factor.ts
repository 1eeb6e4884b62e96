import { fail } from '../../errors.ts';

/** @throws VALIDATION_ERROR unless exactly one is sent */
export function assertOneFactor(
  input: Readonly<Partial<Record<'code' | 'recoveryCode' | 'passkey', unknown>>>,
): void {
  const [first, second] = (['code', 'recoveryCode', 'passkey'] as const).filter(
    (name) => input[name] !== undefined,
  );
  if (first !== undefined && second === undefined) return;
  const detail =
    second === undefined
      ? ({ path: 'code', code: 'required' } as const)
      : ({ path: second, code: 'excluded' } as const);
  throw fail('VALIDATION_ERROR', { details: [detail] });
}
