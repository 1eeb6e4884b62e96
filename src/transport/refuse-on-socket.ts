import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { readPlainRequest, type PlainRequest } from './plain-request.ts';

/**
 * Refuses on the connection itself (docs/decisions/0028). To hand a request over, Node's server parses it, makes two
 * streams and ends them, which costs twice of what it takes to see that somebody is to be refused, and to tell him. So
 * where somebody was refused, what arrives afterwards is looked at first: a plain request that there is no room for is
 * answered at once, and everything else goes to the parser, as it came.
 *
 * The parser must stand between two requests then, and nobody wait for an answer. That is seen, not supposed: the last
 * bytes that it was given were one plain request by our reading, it handed over the very same, and the answer is out.
 */
export interface SocketRefusals {
  /** From now on, on the connection of an answer that was a refusal. */
  readonly watch: (response: ServerResponse) => void;
  /** To be called with each request that Node hands over, before it is answered. */
  readonly handedOver: (request: IncomingMessage, response: ServerResponse) => void;
}

export interface SocketRefusalOptions {
  /** The whole answer as it goes over the wire; null: there is room, or it is to be answered in another way. */
  readonly refusalOf: (request: PlainRequest) => string | null;
  /** Whether nobody has been refused for long. */
  readonly isCalm: () => boolean;
}

interface Handed {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

type Feed = (chunk: Buffer) => void;

export function createSocketRefusals({ refusalOf, isCalm }: SocketRefusalOptions): SocketRefusals {
  const watched = new WeakSet<Socket>();
  /** What the parser hands over of the bytes that it is being given; null while it reads for itself. */
  let handing: Handed[] | null = null;

  /** What it handed over, if that was this request. */
  function give(feed: Feed, chunk: Buffer, plain: PlainRequest | null): Handed | null {
    const handed: Handed[] = [];
    handing = handed;
    try {
      feed(chunk);
    } finally {
      handing = null;
    }
    const [first] = handed;
    return plain && first && isSame(plain, first.request) ? first : null;
  }

  return {
    watch({ socket }) {
      if (!socket || watched.has(socket)) return;
      // That of the server. It reads past it while nobody else listens, and by it from when somebody does.
      const [feed, ...others] = socket.listeners('data') as Feed[];
      if (!feed || others.length > 0) return;
      watched.add(socket);
      /** Null: it is not known where the parser stands. */
      let last: Handed | null = null;
      socket.off('data', feed);
      socket.on('data', (chunk: Buffer) => {
        const plain = readPlainRequest(chunk);
        const isNext = last !== null && last.response.closed && socket.writableLength === 0;
        const refusal = plain && isNext ? refusalOf(plain) : null;
        if (refusal === null) last = give(feed, chunk, plain);
        else socket.write(refusal);
      });
    },
    handedOver(request, response) {
      if (!handing) return;
      handing.push({ request, response });
      // Reading past the listeners is faster, and comes back with a new connection only.
      if (isCalm()) response.setHeader('connection', 'close');
    },
  };
}

/** And read to its end. What lies in the body of another, however much like it, is not: the rest is too short for it. */
function isSame(plain: PlainRequest, { method, url, rawHeaders, complete }: IncomingMessage): boolean {
  return (
    complete &&
    plain.method === method &&
    plain.url === url &&
    plain.rawHeaders.join('\n') === rawHeaders.join('\n')
  );
}
