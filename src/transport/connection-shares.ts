import type { Socket } from 'node:net';

/**
 * Which connection has to go when there are nearly as many as there may be, so that one network cannot keep the others
 * out by opening connections and saying nothing. A newcomer takes the place of the oldest idle connection of the network
 * that has most: a proxy in front may have them all as long as nobody else wants one, and nobody who waits for an answer
 * is cut off. The last few are for health checks, which tell the rest of the installation what goes on here.
 */
export interface ConnectionShares {
  /** Counts a connection from its start to its end. */
  readonly add: (socket: Socket, network: string) => void;
  /** Whether this connection came when only the share of health checks was left. */
  readonly isForHealth: (socket: Socket) => boolean;
}

/** Of all that there may be: one in so many is for health checks. */
const HEALTH_SHARE = 50;
/** Places that are kept free by closing idle connections, one in so many. */
const FREE_SHARE = 20;
/** Networks that are searched for an idle connection, from the one that has most. */
const NETWORKS = 3;
/** Connections of one network that are looked at for each newcomer. */
const LOOKS = 100;

/** `isIdle`: nobody waits for an answer on it. */
export function createConnectionShares(most: number, isIdle: (socket: Socket) => boolean): ConnectionShares {
  const usual = most - Math.ceil(most / HEALTH_SHARE);
  const comfortable = usual - Math.ceil(usual / FREE_SHARE);
  /** In the order in which they came, or were last found to be at work. */
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
