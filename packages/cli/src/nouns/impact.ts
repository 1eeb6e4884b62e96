import type { components } from '@doorward/node';
import { visible } from '../output/text.ts';
import { scopeText } from '../settings/scope-text.ts';

export type Impact = components['schemas']['Impact'];

/** Formats an impact as text: which permissions each user or key gains or loses, and which of them change. */
export function impactLines({ affected, truncated }: Impact): string[] {
  if (affected.length === 0) return ['No user gains or loses anything.'];
  return [
    ...affected.flatMap(({ subject, scope, gains, loses, changes }) => {
      const who = `${visible(String(subject.type))}:${visible(String(subject.id))} in ${visible(scopeText(scope))}`;
      return [
        ...(gains.length > 0 ? [`${who} gains ${listed(gains)}`] : []),
        ...(loses.length > 0 ? [`${who} loses ${listed(loses)}`] : []),
        ...(changes.length > 0 ? [`${who} changes ${listed(changes)}`] : []),
      ];
    }),
    ...(truncated ? ['… and more'] : []),
  ];
}

const SHOWN = 8;
type Pair = Impact['affected'][number]['gains'][number];

function listed(pairs: readonly Pair[]): string {
  const names = pairs
    .slice(0, SHOWN)
    .map(({ resource, action, conditional }) =>
      visible(`${resource}:${action}${conditional ? ' (conditional)' : ''}`),
    );
  return [...names, ...(pairs.length > SHOWN ? [`${pairs.length - SHOWN} more`] : [])].join(', ');
}
