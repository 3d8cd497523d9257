import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Styles of words in tables: good states are green, states that need attention yellow, bad ones red. */
const STYLES: Readonly<Record<string, Style>> = {
  enabled: 'green',
  active: 'green',
  up: 'green',
  healthy: 'green',
  monitoring: 'yellow',
  silent: 'yellow',
  learning: 'yellow',
  down: 'red',
  failed: 'red',
  disabled: 'dim',
  revoked: 'dim',
  expired: 'dim',
  inherit: 'dim',
};

/** Whether standard output is a terminal with colours. `NO_COLOR` and `FORCE_COLOR` apply. */
const hasColours = (): boolean => process.stdout.isTTY && process.stdout.hasColors();

/** Returns a padded cell of a table in the colour of its word. */
export function colourCell(text: string, word: string): string {
  const style = STYLES[word];
  return style !== undefined && hasColours() ? styleText(style, text) : text;
}

export const colourHeading = (text: string): string => (hasColours() ? styleText('bold', text) : text);
