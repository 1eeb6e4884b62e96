import type { Socket } from 'node:net';

/**
 * Chooses the connection to close when there are nearly as many as allowed, so that no network can keep the others out
 * by opening connections and sending nothing. A new connection replaces the oldest idle one of the network that has
 * most. So a proxy may hold all of them as long as nobody else needs one, and no client that waits for an answer is cut
 * off. The last few connections are for health checks, which must work when the service is full.
 */
export interface ConnectionShares {
  /** Counts a connection from its start to its end. */
  readonly add: (socket: Socket, network: string) => void;
  /** Whether this connection came when only the share of health checks was left. */
  readonly isForHealth: (socket: Socket) => boolean;
}

/** One connection in so many is for health checks. */
const HEALTH_SHARE = 50;
/** One connection in so many is kept free by closing idle ones. */
const FREE_SHARE = 20;
/** The most networks that are searched for an idle connection, beginning with the one that has most. */
const NETWORKS = 3;
/** The most connections of one network that are examined for each new connection. */
const LOOKS = 100;

/** `isIdle`: nobody waits for an answer on it. */
export function createConnectionShares(most: number, isIdle: (socket: Socket) => boolean): ConnectionShares {
  const usual = most - Math.ceil(most / HEALTH_SHARE);
  const comfortable = usual - Math.ceil(usual / FREE_SHARE);
  /** In the order in which they were opened, or last found to be busy. */
  const byNetwork = new Map<string, Set<Socket>>();
  const forHealth = new WeakSet<Socket>();
  let open = 0;

  function closeOneIdle(): void {
    const largest = [...byNetwork.values()].sort((a, b) => b.size - a.size).slice(0, NETWORKS);
    for (const sockets of largest) {
      let looks = LOOKS;
      for (const socket of sockets) {
        if (isIdle(socket)) return void socket.destroy();
        if (--looks === 0) break;
        sockets.delete(socket);
        sockets.add(socket);
      }
    }
  }

  return {
    add(socket, network) {
      if (open >= comfortable) closeOneIdle();
      if (open >= usual) forHealth.add(socket);
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
