import { useEffect, useRef, useState } from 'react';
import type { components } from '@doorward/node/client';
import { useRequest } from '../../api/use-api.ts';
import { targetOf } from '../../entities/declarations/entity.ts';
import { useScope } from '../../scopes/use-scope.ts';

type Event = components['schemas']['Event'];

const FOLLOW_MS = 5000;
const PAGE = 100;
/** Number of pages to load in one step. The feed starts with the oldest event, and may be very long. */
const PAGES = 3;

interface Feed {
  /** The newest event comes first. */
  readonly events: readonly Event[];
  /** Whether the service has no newer events. */
  readonly isAtEnd: boolean;
  readonly isReading: boolean;
  readonly isFollowing: boolean;
  readonly error: Error | null;
  readonly readOn: () => void;
  readonly follow: (isFollowing: boolean) => void;
}

/** Reads the feed of the scope from its oldest event, in steps. On request it then polls for new events. */
export function useFeed(types: readonly string[]): Feed {
  const scope = useScope();
  const [events, setEvents] = useState<readonly Event[]>([]);
  const [isAtEnd, setAtEnd] = useState(false);
  const [isFollowing, setFollowing] = useState(false);
  const after = useRef<string | undefined>(undefined);
  const isReading = useRef(false);
  const { mutateAsync, isPending, isIdle, error } = useRequest(async (api, cursor: string | undefined) =>
    api.events({
      ...targetOf(scope),
      limit: PAGE,
      ...(types.length === 0 ? {} : { types: types as string[] }),
      ...(cursor === undefined ? {} : { after: cursor }),
    }),
  );

  async function read(): Promise<void> {
    // Only one read at a time, because two would show the same events twice.
    if (isReading.current) return;
    isReading.current = true;
    try {
      for (let page = 0; page < PAGES; page++) {
        const { items, nextCursor, hasNextPage } = await mutateAsync(after.current);
        after.current = nextCursor;
        if (items.length > 0) setEvents((before) => [...items.toReversed(), ...before]);
        setAtEnd(!hasNextPage);
        if (!hasNextPage) break;
      }
    } catch {
      // `useRequest` keeps the error, and the page shows it.
      setFollowing(false);
    } finally {
      isReading.current = false;
    }
  }
  const readOn = (): void => void read();

  useEffect(readOn, []);
  useEffect(() => {
    if (!isFollowing) return undefined;
    const timer = setInterval(readOn, FOLLOW_MS);
    return () => clearInterval(timer);
  }, [isFollowing]);

  return {
    events,
    isAtEnd,
    isReading: isPending || isIdle,
    isFollowing,
    error,
    readOn,
    follow: (next) => {
      setFollowing(next);
      if (next) readOn();
    },
  };
}
