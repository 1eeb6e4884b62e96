import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Calls back once, when the answer is out or nobody is there any more to have it. Of an answer that stands behind
 * another one of its connection Node never says that it is closed when the connection is.
 */
export function whenEnded({ socket }: IncomingMessage, response: ServerResponse, ended: () => void): void {
  if (response.destroyed || socket.destroyed) return ended();
  if (!response.socket) return whenItsTurnEnded(socket, response, ended);
  // Not `once`: its wrapper keeps each request alive until the old generation is collected.
  response.on('close', ended);
}

/** Of connections that brought requests before the one ahead of them was answered. */
const inLine = new WeakMap<Socket, Set<() => void>>();

function whenItsTurnEnded(socket: Socket, response: ServerResponse, ended: () => void): void {
  const others = inLine.get(socket) ?? new Set();
  if (!inLine.has(socket)) {
    inLine.set(socket, others);
    // One listener for all: there may be many.
    socket.on('close', () => others.forEach((end) => end()));
  }
  const end = (): void => {
    if (others.delete(end)) ended();
  };
  others.add(end);
  response.on('close', end);
}
