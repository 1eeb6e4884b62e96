import type { ServerResponse } from 'node:http';
import type { Doorward } from '../client/doorward.ts';

/**
 * The response header with the revision of the last change that was made while the request was handled (packages §5).
 */
export const REVISION_HEADER = 'X-Doorward-Revision';

/**
 * Keeps the revision header of a Node response up to date until the headers are sent. `setHeader` sets the header
 * through the framework.
 */
export type FollowRevisions = (response: ServerResponse, setHeader: (revision: string) => void) => void;

/**
 * Creates the function that adds the revision header to responses. Node has no event right before the headers of a
 * response are sent, so each change is announced to all responses in progress. A response may therefore carry the
 * revision of another request's change; a later question then sees more, never less.
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
  // The hooks run after the client has read the revision of a response, so the header is set before the route
  // continues.
  doorward.observe({ onResponse: announce });
  return (response, setHeader) => {
    const end = (): void => void open.delete(response);
    if (open.has(response) || response.destroyed) return;
    open.set(response, setHeader);
    // Simulated responses, such as those of Fastify's `inject`, emit only `finish`.
    response.once('finish', end).once('close', end);
  };
}
