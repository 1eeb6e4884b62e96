import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Call, RequestSlot } from '../../kernel/context.ts';

export const requestSlot = ({ socket }: IncomingMessage, bodyLength: number): RequestSlot => ({
  taken: null,
  bodyLength,
  onGone: (listener) => onClose(socket, listener),
});

/** To be called when the request is answered. A request that is still waiting gives its slot back as soon as it has it. */
export function releaseSlot({ slot: { taken } }: Pick<Call, 'slot'>): void {
  if (taken instanceof Promise) taken.then((slot) => slot.release()).catch(() => undefined);
  else taken?.release();
}

/** Of connections on which requests wait. One listener for all of them: a client may send many, one behind the other. */
const waiting = new WeakMap<Socket, Set<() => void>>();

function onClose(socket: Socket, listener: () => void): () => void {
  let listeners = waiting.get(socket);
  if (!listeners) {
    const all = new Set<() => void>();
    listeners = all;
    waiting.set(socket, all);
    socket.once('close', () => {
      for (const one of all) one();
    });
  }
  if (socket.destroyed) listener();
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
