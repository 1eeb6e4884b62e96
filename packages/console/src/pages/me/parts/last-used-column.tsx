import { Time } from '../../../ui/times/time.tsx';
import type { OwnTexts } from './own-texts.ts';

/** When a way to sign in or a factor was last used. */
export const lastUsedColumn = (own: OwnTexts) => ({
  key: 'lastUsedAt',
  label: own.lastUsed,
  cell: ({ lastUsedAt }: { readonly lastUsedAt: string | null }) =>
    lastUsedAt === null ? own.never : <Time iso={lastUsedAt} />,
});
