// Writes the pages of docs/ that are made from the code. Run by `npm run docs`, which compiles first; tests see to it
// that nobody forgets.
import { readFileSync, writeFileSync } from 'node:fs';
import { configurationPage } from '../dist/config/index.js';
import { fieldTable } from '../dist/rules/index.js';

writeFileSync(new URL('../docs/configuration.md', import.meta.url), configurationPage());
fillTable('rules-api.md', 'fields', fieldTable());

/** Puts a table in the place of the one that follows a comment `<!-- name: … -->`. */
function fillTable(page, name, table) {
  const url = new URL(`../docs/${page}`, import.meta.url);
  const place = new RegExp(`(<!-- ${name}: [^\\n]*-->\\n\\n)(?:\\|[^\\n]*\\n)*`);
  const text = readFileSync(url, 'utf8');
  if (!place.test(text)) throw new Error(`docs/${page} has no place for the table of ${name}`);
  writeFileSync(url, text.replace(place, `$1${table}\n`));
}
