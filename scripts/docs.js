// Writes what is made from the code in the pages of docs/: whole pages, and the parts between `<!-- GROUP: PART -->` and
// `<!-- GROUP: end -->`. Run by `npm run docs`, which compiles first. With --check it only names the pages that are not
// as they should be: a test runs it so.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { EXIT_CODE_ROWS } from '../dist/cli/exitCodes.js';
import { programFor } from '../dist/cli/program.js';
import { configurationPage } from '../dist/config/index.js';
import { METHODS, methodsTable } from '../dist/ethereum/gateway/index.js';
import { RPC_ERRORS } from '../dist/ethereum/jsonrpc/index.js';
import { fieldTable } from '../dist/rules/index.js';
import { roomsPicture, roomsTable } from './architecture.js';

const commandRows = [...rowsOf(await programFor())];

const docs = new URL('../docs/', import.meta.url);

/** @type {Readonly<Record<string, () => string>>} */
const PAGES = { 'configuration.md': configurationPage };

/** @type {Readonly<Record<string, () => string>>} */
const PARTS = {
  'gateway: methods': () => methodsTable(METHODS),
  'gateway: errors': () =>
    table(
      ['Code', 'Meaning'],
      Object.values(RPC_ERRORS).map(({ code, meaning }) => [String(code), meaning]),
    ),
  'rules: fields': fieldTable,
  'commands: list': () => table(['Command', 'What it does'], commandRows),
  'commands: exits': () => table(['Code', 'Meaning'], EXIT_CODE_ROWS),
  'architecture: picture': roomsPicture,
  'architecture: rooms': roomsTable,
};

/** What stands between the two comments of a part. */
const PART = /(?<=<!-- ((\w+): (?!end)\w+) -->)\n[\s\S]*?(?=<!-- \2: end -->)/g;

const isCheck = process.argv.includes('--check');
for (const name of readdirSync(docs).filter((file) => file.endsWith('.md'))) {
  const page = new URL(name, docs);
  const before = readFileSync(page, 'utf8');
  const after = PAGES[name]?.() ?? before.replace(PART, withPart);
  if (after === before) continue;
  if (!isCheck) writeFileSync(page, after);
  console.log(isCheck ? `docs/${name} is not as the code has it: run npm run docs` : `wrote docs/${name}`);
  if (isCheck) process.exitCode = 1;
}

/** @type {(before: string, name: string) => string} */
function withPart(before, name) {
  const part = PARTS[name];
  return part === undefined ? before : `\n\n${part()}\n\n`;
}

/** @type {(header: readonly string[], rows: readonly (readonly string[])[]) => string} */
function table(header, rows) {
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The commands that do something, with all their words. */
function* rowsOf(command, words = '') {
  for (const inner of command.commands) yield* rowsOf(inner, `${words} ${inner.name()}`);
  if (command.commands.length === 0)
    yield [`\`floodgate${words}\``, command.description().replaceAll('\n', ' ')];
}
