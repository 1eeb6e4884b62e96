import { contrast, inkOn } from './contrast.ts';

/**
 * The colours of pages and mails, and those that are computed from the colour of an app or organization. The functions
 * are pure, because the console computes its previews with them too.
 */

/**
 * The colours of a page, by colour scheme. Text on its card has a contrast of at least 4.5 to 1; edges of controls
 * and the focus outline have at least 3 to 1 (WCAG 2.2). The colour of an app changes only buttons and the focus
 * outline.
 */
export const schemes = {
  light: {
    ...{ ink: '#1c2733', soft: '#5b6b7c', line: '#dfe5ec', ground: '#f4f6f9', card: '#ffffff' },
    ...{ button: '#1f3a5f', buttonInk: '#ffffff', buttonEdge: '#1f3a5f', focus: '#1a5fb4' },
    ...{ good: '#1d6b43', bad: '#a32a2a' },
  },
  dark: {
    ...{ ink: '#e6ebf1', soft: '#9fb0c3', line: '#2c3a48', ground: '#14181b', card: '#1c2022' },
    ...{ button: '#2f5f9c', buttonInk: '#ffffff', buttonEdge: '#6c97cd', focus: '#7fb2f0' },
    ...{ good: '#6fd0a0', bad: '#f09a9a' },
  },
} as const;

export type Scheme = keyof typeof schemes;

/**
 * The colours of a button and of the focus outline on the pages of an app. An app can choose any ground; ink and edge
 * still meet the contrast that WCAG 2.2 requires (4.5 to 1 for text, 3 to 1 for the edge of a button and for the
 * outline, which has the colour of the edge).
 */
interface ButtonColours {
  readonly ground: string;
  readonly ink: string;
  /** One per colour scheme, because the card behind the button differs. */
  readonly edge: Readonly<Record<Scheme, string>>;
}

/** Computes the ink and the edges for a ground (`#rrggbb`). */
export function buttonColours(ground: string): ButtonColours {
  const edge = (scheme: Scheme) =>
    contrast(ground, schemes[scheme].card) >= 3 ? ground : schemes[scheme].soft;
  return {
    ground,
    ink: inkOn(ground),
    edge: { light: edge('light'), dark: edge('dark') },
  };
}

interface MailColours {
  readonly ground: string;
  readonly ink: string;
  readonly edge: string;
  /** The colour of the name at the top. */
  readonly title: string;
}

/**
 * Returns the colours of a mail; mails always use the light scheme. `colour` is `#rrggbb`, or null for the colour of
 * the service.
 */
export function mailColours(colour: string | null): MailColours {
  const { card, ink: plain, button } = schemes.light;
  const ground = colour ?? button;
  const ratio = contrast(ground, card);
  return {
    ground,
    ink: inkOn(ground),
    edge: ratio >= 3 ? ground : plain,
    title: ratio >= 4.5 ? ground : plain,
  };
}
