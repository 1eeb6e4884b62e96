import type { FastifyInstance } from 'fastify';
import { pageHeaders, withHeaders } from '../transport/docs-page.ts';
import { pagePolicy } from './page.ts';
import { cards, edges } from './stylesheet.ts';

/**
 * The colour of an app on its buttons. An app may have chosen any; what is written on it, and where it ends, can be seen
 * all the same (WCAG 2.2: 4.5 to 1 for text, 3 to 1 for the edge of a button).
 */
export interface ButtonColours {
  readonly ground: string;
  readonly ink: string;
  /** By scheme, because the card below it differs. */
  readonly edge: { readonly light: string; readonly dark: string };
}

/** Relative luminance (WCAG 2.2) of `#rrggbb`. */
function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** From 1, equal, to 21, black on white. */
export function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

export function buttonColours(ground: string): ButtonColours {
  const edge = (scheme: 'light' | 'dark') => (contrast(ground, cards[scheme]) >= 3 ? ground : edges[scheme]);
  return {
    ground,
    // The better of the two is never below 4.58: the square root of 21.
    ink: contrast(ground, '#000000') > contrast(ground, '#ffffff') ? '#000000' : '#ffffff',
    edge: { light: edge('light'), dark: edge('dark') },
  };
}

const path = '/hosted/colour/';

/** The style sheet of a colour: a file, because nothing on a page is inline. */
export const colourSheet = (colour: string): string => `${path}${colour.slice(1)}.css`;

/** Serves `/hosted/colour/<rrggbb>.css`, which is the same for ever. */
export const serveColours = (app: FastifyInstance): void =>
  withHeaders(app, pageHeaders(pagePolicy(), 'public, max-age=31536000, immutable'), (scope) => {
    scope.get(`${path}:file`, (request, reply) => {
      const [, digits] = /^([0-9a-f]{6})\.css$/.exec((request.params as { file: string }).file) ?? [];
      if (digits === undefined) return reply.callNotFound();
      const { ground, ink, edge } = buttonColours(`#${digits}`);
      return reply
        .type('text/css; charset=utf-8')
        .send(
          `:root { --button: ${ground}; --button-ink: ${ink}; --button-edge: ${edge.light}; }\n` +
            `@media (prefers-color-scheme: dark) { :root { --button-edge: ${edge.dark}; } }\n`,
        );
    });
  });
