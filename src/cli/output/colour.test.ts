import { styleText } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { colourCell, colourHeading } from './colour.ts';

const { isTTY, hasColors } = process.stdout;
afterEach(() => {
  Object.assign(process.stdout, { isTTY, hasColors });
});

it.each([
  { isTerminal: true, coloured: true },
  { isTerminal: true, coloured: false },
  { isTerminal: false, coloured: true },
])('colours states and headings only on a terminal with colours: %o', ({ isTerminal, coloured }) => {
  // The standard output of a test is not a terminal.
  Object.assign(process.stdout, { isTTY: isTerminal, hasColors: () => coloured });
  const styled = (style: 'green' | 'bold', text: string) =>
    isTerminal && coloured ? styleText(style, text) : text;
  expect(colourHeading('id')).toBe(styled('bold', 'id'));
  expect(colourCell('enabled  ', 'enabled')).toBe(styled('green', 'enabled  '));
  expect(colourCell('name', 'name')).toBe('name');
});
