import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Call, RequestSlot } from '../../kernel/context.ts';

/** The slot of a request, initially not taken. `onGone` reports a client that disconnects. */
export const requestSlot = ({ socket }: IncomingMessage, bodyLength: number): RequestSlot => ({
  taken: null,
  reading: null,
  bodyLength,
  onGone: (listener) => onClose(socket, listener),
});

/**
 * Releases the slot after the response. If the request is still waiting for its slot, the slot is released as soon as
 * it is granted.
 */
export function releaseSlot({ slot: { taken } }: Pick<Call, 'slot'>): void {
  if (taken instanceof Promise) taken.then((slot) => slot.release()).catch(() => undefined);
  else taken?.release();
}

/** Listeners by connection, because a client may pipeline many requests: one `close` listener serves all of them. */
const listenersOf = new WeakMap<Socket, Set<() => void>>();

function onClose(socket: Socket, listener: () => void): () => void {
  let listeners = listenersOf.get(socket);
  if (!listeners) {
    const created = new Set<() => void>();
    listeners = created;
    listenersOf.set(socket, created);
    socket.once('close', () => {
      for (const item of created) item();
    });
  }
  if (socket.destroyed) listener();
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
