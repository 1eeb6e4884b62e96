import type { ShownFault } from '../fault.ts';
import { visible, visibleJson } from './text.ts';

const label = (name: string): string => `  ${`${name}:`.padEnd(8)} `;

/** Formats an error for people: message and code, invalid fields, reason, hint, and the id of the request. */
export function errorLines(fault: ShownFault, paint: (text: string) => string): string[] {
  const { message, code, details, reason, hint, requestId } = fault;
  return [
    `${paint('error:')} ${visible(message)}  ${visible(code)}`,
    ...details.map((detail) => `${label(visible(detail.path))}${visible(detail.message)}`),
    ...(reason === undefined ? [] : [`${label('reason')}${visible(reason)}`]),
    ...(hint === undefined ? [] : [`${label('hint')}${visible(hint)}`]),
    ...(requestId === undefined ? [] : [`${label('request')}${visible(requestId)}`]),
  ];
}

/** Formats an error as JSON, like the error envelope of the API. */
export function errorJson({ message, code, status, details, reason, hint, requestId }: ShownFault): string {
  return visibleJson({
    error: message,
    code,
    ...(status === undefined ? {} : { status }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(details.length === 0 ? {} : { details }),
    ...(hint === undefined ? {} : { fix: hint }),
    ...(reason === undefined ? {} : { reason }),
  });
}
