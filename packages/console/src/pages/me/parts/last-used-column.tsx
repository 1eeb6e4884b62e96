import { Time } from '../../../ui/times/time.tsx';
import type { OwnTexts } from './own-texts.ts';

/** A column that shows when a sign-in method or second factor was last used. */
export const lastUsedColumn = (own: OwnTexts) => ({
  key: 'lastUsedAt',
  label: own.lastUsed,
  cell: ({ lastUsedAt }: { readonly lastUsedAt: string | null }) =>
    lastUsedAt === null ? own.never : <Time iso={lastUsedAt} />,
});
