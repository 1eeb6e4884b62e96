import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Calls the listener once, when the response has been sent or its connection is closed. If the connection closes, Node
 * sends no `close` event for a pipelined response that is still waiting for the one before it.
 */
export function onResponseClosed(
  { socket }: IncomingMessage,
  response: ServerResponse,
  listener: () => void,
): void {
  if (response.destroyed || socket.destroyed) return listener();
  if (!response.socket) return onPipelinedResponseClosed(socket, response, listener);
  // Not `once`, because its wrapper would keep each request in memory until the garbage collector reaches the old
  // generation.
  response.on('close', listener);
}

/** Listeners of connections with pipelined requests. */
const pipelined = new WeakMap<Socket, Set<() => void>>();

function onPipelinedResponseClosed(socket: Socket, response: ServerResponse, listener: () => void): void {
  const listeners = pipelined.get(socket) ?? new Set();
  if (!pipelined.has(socket)) {
    pipelined.set(socket, listeners);
    // One `close` listener for all, because a connection may have many pipelined requests.
    socket.on('close', () => listeners.forEach((callOnce) => callOnce()));
  }
  const end = (): void => {
    if (listeners.delete(end)) listener();
  };
  listeners.add(end);
  response.on('close', end);
}
