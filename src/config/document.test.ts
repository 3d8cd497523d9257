import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { configurationPage } from './document.ts';

it('docs/configuration.md says what the schema says: run `npm run docs` where it does not', () => {
  const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  expect(page).toBe(configurationPage());
});
