// Writes what is made from the code in the pages of docs/: whole pages, and the parts between `<!-- GROUP: PART -->` and
// `<!-- GROUP: end -->`. Run by `npm run docs`, which compiles first. With --check it only names the pages that are not
// as they should be: a test runs it so.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { configurationPage } from '../dist/config/index.js';
import { METHODS, methodsTable } from '../dist/ethereum/gateway/index.js';
import { RPC_ERRORS } from '../dist/ethereum/jsonrpc/index.js';
import { fieldTable } from '../dist/rules/index.js';
import { rooms } from './rooms.js';

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
  'rooms: picture': roomsPicture,
  'rooms: table': () =>
    table(
      ['Folder of `src`', 'What it is for', 'Uses'],
      rooms.map(({ room, purpose, pure, uses }) => [
        `\`${room}\``,
        pure ? `${purpose.replace(/[.;] pure$/i, '')}. Pure` : purpose,
        uses.map((used) => `\`${used}\``).join(', '),
      ]),
    ),
};

const PART = /(<!-- ((\w+): (?!end)\w+) -->)\n[\s\S]*?(<!-- \3: end -->)/g;

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

/** @type {(whole: string, start: string, name: string, group: string, end: string) => string} */
function withPart(whole, start, name, _group, end) {
  const part = PARTS[name];
  return part === undefined ? whole : `${start}\n\n${part()}\n\n${end}`;
}

/** @type {(header: readonly string[], rows: readonly (readonly string[])[]) => string} */
function table(header, rows) {
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The two halves and what they share. `cli` and `server`, which use nearly all, are left out. */
function roomsPicture() {
  const shown = rooms.filter(({ room }) => room !== 'cli' && room !== 'server');
  const arrows = shown.flatMap(({ room, uses }) => uses.map((used) => `  ${room} --> ${used}`));
  const halves = ['rules', 'dns', 'ethereum', 'platform'].map((half) =>
    [
      `  subgraph ${half}_half [${half}]`,
      ...shown.filter(({ room }) => room.split('/')[0] === half).map(({ room }) => `    ${room}`),
      '  end',
    ].join('\n'),
  );
  return ['```mermaid', 'flowchart TD', ...halves, ...arrows, '```'].join('\n');
}
