import type { Tokens } from './tokens.ts';

/**
 * The open tabs of the same app on this origin. They share a session through BroadcastChannel, which stores nothing.
 * Every script of the origin can listen to it, but such a script could also call the client itself.
 */
export interface Tabs {
  share(tokens: Tokens): void;
  /** Announces to the other tabs that a session has ended. */
  end(session: string): void;
  /** Asks the other tabs for newer tokens. Resolves when they arrive, or after a short wait. */
  sync(): Promise<void>;
  close(): void;
}

interface TabEvents {
  readonly tokens: () => Tokens | null;
  /** Returns whether the tokens were newer. */
  readonly onTokens: (tokens: Tokens) => boolean;
  readonly onEnd: (session: string) => void;
}

type Message =
  | { readonly kind: 'request' }
  | { readonly kind: 'tokens'; readonly tokens: Tokens }
  | { readonly kind: 'end'; readonly session: string };

/** How long to wait for other tabs, which usually respond within a few milliseconds. Later responses are still used. */
const WAIT_MS = 200;

export function openTabs(name: string, { tokens, onTokens, onEnd }: TabEvents): Tabs {
  // `1` is the version of the message format: tabs with another version of this package may be open at the same time.
  const channel = new BroadcastChannel(`${name}:1`);
  const post = (message: Message) => channel.postMessage(message);
  let resolveSync: (() => void) | undefined;
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    const current = tokens();
    if (data.kind === 'tokens') {
      if (onTokens(data.tokens)) resolveSync?.();
    } else if (data.kind === 'end') onEnd(data.session);
    else if (current !== null) post({ kind: 'tokens', tokens: current });
  };
  return {
    share: (tokens) => post({ kind: 'tokens', tokens }),
    end: (session) => post({ kind: 'end', session }),
    sync: () =>
      new Promise((resolve) => {
        resolveSync = resolve;
        post({ kind: 'request' });
        setTimeout(resolve, WAIT_MS);
      }),
    close: () => channel.close(),
  };
}
