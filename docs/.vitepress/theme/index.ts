/** The default theme with the fonts of the reader's machine: no file of a font is loaded. */
export { default } from 'vitepress/theme-without-fonts';
