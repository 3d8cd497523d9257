import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const FROM = /^(import|export)( type)? \{([^}]*)\} from '(\.[^']+)\.ts';$/gm;

/**
 * Writes the type declarations of entry points (name to file), and of the files that they import, into one folder.
 * Skips every index.ts: TypeScript would read all modules that it exports, and those need the types of Node.
 */
export function writeTypes(entryPoints, folder) {
  mkdirSync(folder, { recursive: true });
  const written = new Map();
  for (const [name, file] of Object.entries(entryPoints)) writeFrom(file, name, { folder, written });
}

function writeFrom(file, name, { folder, written }) {
  if (written.has(name)) {
    if (written.get(name) !== file) throw new Error(`two type declaration files have the name ${name}`);
    return;
  }
  written.set(name, file);
  const text = readFileSync(`${file}.d.ts`, 'utf8').replace(FROM, (...match) => {
    const [, verb, isType = '', names, from] = match;
    return homesOf(join(dirname(file), from), names)
      .map(([home, taken]) => {
        writeFrom(home, basename(home), { folder, written });
        return `${verb}${isType} { ${taken} } from './${basename(home)}.js';`;
      })
      .join('\n');
  });
  writeFileSync(`${folder}/${name}.d.ts`, text);
}

/**
 * Returns the files that declare `names`, each with its share of them. Resolves an index.ts to the files that it
 * re-exports.
 */
function homesOf(file, names) {
  const wanted = names
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  if (basename(file) !== 'index') return [[file, wanted.join(', ')]];
  const exported = [...readFileSync(`${file}.d.ts`, 'utf8').matchAll(FROM)];
  const homes = new Map();
  for (const name of wanted) {
    const match = exported.find(([, , , given]) => given.split(',').map(bare).includes(bare(name)));
    if (match === undefined) throw new Error(`${file} does not export ${bare(name)}`);
    const home = join(dirname(file), match[4]);
    homes.set(home, homes.has(home) ? `${homes.get(home)}, ${name}` : name);
  }
  return [...homes];
}

const bare = (name) => name.trim().replace(/^type /, '');
