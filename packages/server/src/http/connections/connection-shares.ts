import type { Socket } from 'node:net';

interface ConnectionShares {
  /** Counts a connection until it closes. */
  readonly add: (socket: Socket, network: string) => void;
  /** Whether this connection uses the share that is reserved for health checks. */
  readonly isForHealth: (socket: Socket) => boolean;
}

/** One connection in 50 is reserved for health checks. */
const HEALTH_SHARE = 50;
/** One connection in 20 is kept free by closing idle connections. */
const FREE_SHARE = 20;
/** Maximum number of networks that are searched for an idle connection, the largest first. */
const MAX_NETWORKS = 3;
/** Maximum number of connections of one network that are examined for each new connection. */
const MAX_EXAMINED = 100;

/**
 * Shares the connections between networks, so that no network can keep others out by opening idle connections. Close to
 * the limit, a new connection replaces the oldest idle one of the network with the most connections. So a proxy may
 * hold all of them while no other network needs one, and no client that waits for a response is cut off. The last few
 * connections are for health checks, which must work when the service is full.
 *
 * `isIdle` returns whether no client waits for a response on a connection.
 */
export function createConnectionShares(
  maxConnections: number,
  isIdle: (socket: Socket) => boolean,
): ConnectionShares {
  const generalLimit = maxConnections - Math.ceil(maxConnections / HEALTH_SHARE);
  const softLimit = generalLimit - Math.ceil(generalLimit / FREE_SHARE);
  /** Connections in the order in which they were opened, or were last examined and found busy. */
  const byNetwork = new Map<string, Set<Socket>>();
  const forHealth = new WeakSet<Socket>();
  let open = 0;

  function closeIdleConnection(): void {
    const largest = [...byNetwork.values()].sort((a, b) => b.size - a.size).slice(0, MAX_NETWORKS);
    for (const sockets of largest) {
      let remaining = MAX_EXAMINED;
      for (const socket of sockets) {
        if (isIdle(socket)) return void socket.destroy();
        if (--remaining === 0) break;
        sockets.delete(socket);
        sockets.add(socket);
      }
    }
  }

  return {
    add(socket, network) {
      if (open >= softLimit) closeIdleConnection();
      if (open >= generalLimit) forHealth.add(socket);
      const own = byNetwork.get(network) ?? new Set();
      byNetwork.set(network, own.add(socket));
      open++;
      socket.once('close', () => {
        open--;
        own.delete(socket);
        if (own.size === 0 && byNetwork.get(network) === own) byNetwork.delete(network);
      });
    },
    isForHealth: (socket) => forHealth.has(socket),
  };
}
