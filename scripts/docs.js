// Generates parts of the docs from the code: whole pages, the parts between `<!-- GROUP: PART -->` and `<!-- GROUP: end -->`, and
// the types of floodgate/client. `npm run docs` compiles first and runs this. With --check it only lists outdated files.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { EXIT_CODE_ROWS } from '../dist/cli/exitCodes.js';
import { programFor } from '../dist/cli/program.js';
import { configurationPage } from '../dist/config/index.js';
import { METHODS, methodsTable, openRpcDocument } from '../dist/ethereum/gateway/index.js';
import { RPC_ERRORS } from '../dist/ethereum/jsonrpc/index.js';
import { fieldTable } from '../dist/rules/index.js';
import { clientTypes } from './clientTypes.js';
import { modulesTable } from './modules.js';

const commandRows = [...rowsOf(await programFor())];

const docs = new URL('../docs/', import.meta.url);

/** @type {Readonly<Record<string, () => string>>} */
const PAGES = { 'reference/configuration.md': configurationPage };

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
  'architecture: modules': modulesTable,
};

/** The text between the two comments of a part. */
const PART = /(?<=<!-- ((\w+): (?!end)\w+) -->)\n[\s\S]*?(?=<!-- \2: end -->)/g;

const isCheck = process.argv.includes('--check');
for (const name of readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.md'),
)) {
  const before = readFileSync(new URL(name, docs), 'utf8');
  write(`docs/${name}`, before, PAGES[name]?.() ?? before.replace(PART, withPart));
}
const TYPES = 'src/exports/client/types.ts';
const types = readFileSync(new URL(`../${TYPES}`, import.meta.url), 'utf8');
write(TYPES, types, clientTypes(openRpcDocument('mainnet', METHODS)));

/** @type {(path: string, before: string, after: string) => void} */
function write(path, before, after) {
  if (after === before) return;
  if (!isCheck) writeFileSync(new URL(`../${path}`, import.meta.url), after);
  console.log(isCheck ? `${path} is outdated: run npm run docs` : `wrote ${path}`);
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
