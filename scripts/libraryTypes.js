import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const FROM = /^(import|export)( type)? \{([^}]*)\} from '(\.[^']+)\.ts';$/gm;

/**
 * Writes the declarations of libraries (their names and files), and of what their names come from, into one folder. Not by way of
 * the doors: TypeScript would read all that each of them leads to, and want Node's types for it.
 */
export function writeTypes(libraries, folder) {
  mkdirSync(folder, { recursive: true });
  const written = new Map();
  for (const [name, file] of Object.entries(libraries)) writeFrom(file, name, { folder, written });
}

function writeFrom(file, name, { folder, written }) {
  if (written.has(name)) {
    if (written.get(name) !== file) throw new Error(`two files of types are called ${name}`);
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

/** The files that names of a file come from, each with those: of a door the files behind it. */
function homesOf(file, names) {
  const wanted = names
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  if (basename(file) !== 'index') return [[file, wanted.join(', ')]];
  const doors = [...readFileSync(`${file}.d.ts`, 'utf8').matchAll(FROM)];
  const homes = new Map();
  for (const name of wanted) {
    const door = doors.find(([, , , given]) => given.split(',').map(bare).includes(bare(name)));
    if (door === undefined) throw new Error(`${file} has no ${bare(name)}`);
    const home = join(dirname(file), door[4]);
    homes.set(home, homes.has(home) ? `${homes.get(home)}, ${name}` : name);
  }
  return [...homes];
}

const bare = (name) => name.trim().replace(/^type /, '');
