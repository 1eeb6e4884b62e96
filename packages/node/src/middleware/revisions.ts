import type { ServerResponse } from 'node:http';
import type { Doorward } from '../client/doorward.ts';

/**
 * The header of a response with the revision of a change that was made while the response was in progress (packages
 * §5).
 */
export const REVISION_HEADER = 'X-Doorward-Revision';

/** Adds revisions to a response of Node until it ends. `setHeader`: the function of the framework. */
export type FollowRevisions = (response: ServerResponse, setHeader: (revision: string) => void) => void;

/**
 * Node's responses offer no moment right before their headers are sent, so each change is written into all
 * responses in progress. So a response may carry the revision of a change that another request made: a later
 * question then sees more, never less.
 */
export function revisionsOf(doorward: Doorward): FollowRevisions {
  const open = new Map<ServerResponse, (revision: string) => void>();
  let last = doorward.revision;
  const announce = (): void => {
    const { revision } = doorward;
    if (revision === null || revision === last) return;
    last = revision;
    for (const [response, setHeader] of open) if (!response.headersSent) setHeader(revision);
  };
  // The client has read the revision of an answer when its hooks run, so the header is set before the route goes on.
  doorward.observe({ onResponse: announce });
  return (response, setHeader) => {
    const end = (): void => void open.delete(response);
    if (open.has(response) || response.destroyed) return;
    open.set(response, setHeader);
    // Simulated responses, as Fastify's `inject` makes them, emit only `finish`.
    response.once('finish', end).once('close', end);
  };
}
