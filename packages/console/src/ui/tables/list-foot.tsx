import type { ReactNode } from 'react';
import { common } from '../../i18n/common.ts';
import { formatNumber } from '../../i18n/format.ts';
import { useTexts } from '../../i18n/language.ts';

/** The line below a list: the number of rows, a button to load more, and actions on the rows that are shown. */
export function ListFoot({
  list,
  children,
}: {
  readonly list: {
    readonly data: { readonly pages: readonly { readonly totalCount: number }[] } | undefined;
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
  };
  readonly children?: ReactNode;
}) {
  const c = useTexts(common);
  return (
    <footer className="table-foot">
      <span>{c.total(formatNumber(list.data?.pages[0]?.totalCount ?? 0))}</span>
      {list.hasNextPage && (
        <button type="button" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {c.loadMore}
        </button>
      )}
      {children}
    </footer>
  );
}
