import type { Tokens } from './tokens.ts';

/**
 * The tabs of one origin in which the same app runs. They share a session by BroadcastChannel, which stores nothing.
 * Every script of this origin can listen, as it could also call what the page calls.
 */
export interface Tabs {
  share(tokens: Tokens): void;
  /** Tells the other tabs that a session has ended. */
  end(session: string): void;
  /** Requests newer tokens from the other tabs; resolves when they came, or when none have come in time. */
  sync(): Promise<void>;
  close(): void;
}

interface TabEvents {
  readonly tokens: () => Tokens | null;
  /** Answers whether they were newer. */
  readonly onTokens: (tokens: Tokens) => boolean;
  readonly onEnd: (session: string) => void;
}

type Message =
  | { readonly kind: 'request' }
  | { readonly kind: 'tokens'; readonly tokens: Tokens }
  | { readonly kind: 'end'; readonly session: string };

/** Another tab answers within a few milliseconds. Later answers of a busy tab are used too. */
const WAIT_MS = 200;

export function openTabs(name: string, { tokens, onTokens, onEnd }: TabEvents): Tabs {
  // The number is the format: tabs with another version of this package may run beside this one.
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
