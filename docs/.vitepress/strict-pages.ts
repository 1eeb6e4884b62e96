import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MarkdownOptions } from 'vitepress';
import { base, outDir } from './folders.ts';

/**
 * Pages without inline scripts and style attributes, so that the service serves them with a content security policy that
 * allows neither: the scripts become files, and the colors of code become classes.
 */
type CodeTransformer = NonNullable<MarkdownOptions['codeTransformers']>[number];

/** What the theme sets by style attributes. The second value is a start value, which its script sets. */
const layout = ['.vp-doc{position:relative}', '.VPLocalNavOutlineDropdown{--vp-vh:0px}'];
const replaced = new Set(['position:relative;', '--vp-vh:0px;']);

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 10);

export function strictPages() {
  /** Class → declarations. */
  const styles = new Map<string, string>();
  /** File name → text. */
  const scripts = new Map<string, string>();

  const toClass = (properties: Record<string, unknown>): void => {
    const { style } = properties;
    if (typeof style !== 'string' || style === '') return;
    const name = `c-${hashOf(style)}`;
    styles.set(name, style);
    delete properties['style'];
    const { class: existing } = properties;
    properties['class'] = typeof existing === 'string' ? `${existing} ${name}` : name;
  };

  const codeTransformer: CodeTransformer = {
    name: 'classes-for-colors',
    pre: ({ properties }) => toClass(properties),
    span: ({ properties }) => toClass(properties),
  };

  return {
    codeTransformer,

    withoutInline: (html: string): string =>
      html
        .replace(/<script id="[^"]*">([\s\S]*?)<\/script>/g, (_, text: string) => {
          const name = `inline-${hashOf(text)}.js`;
          scripts.set(name, text);
          return `<script src="${base}assets/${name}"></script>`;
        })
        .replace(/(<[a-z][^<>]*?) style="([^"<>]*)"/g, (_, tag: string, style: string) => {
          if (!replaced.has(style)) throw new Error(`a style attribute that no rule replaces: ${style}`);
          return tag;
        }),

    writeFiles: async (): Promise<void> => {
      const folder = join(outDir, 'assets');
      await mkdir(folder, { recursive: true });
      const rules = [...styles].sort().map(([name, style]) => `.${name}{${style}}`);
      rules.push(...layout);
      await writeFile(join(outDir, 'code.css'), `${rules.join('\n')}\n`);
      for (const [name, text] of scripts) await writeFile(join(folder, name), text);
    },
  };
}
