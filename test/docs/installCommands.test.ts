import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/**
 * This project does not own the name `floodgate` in the npm registry: anyone who publishes it could run code on the
 * machines of users who install it by name. So texts name the packed file (`./floodgate-0.1.0.tgz`) or the checkout.
 */

const root = fileURLToPath(new URL('../../', import.meta.url));
const FOLDERS = ['.github', 'bench', 'console', 'deploy', 'docs', 'scripts', 'site', 'src', 'test'];
const TEXT = /(?:\.(?:md|ts|tsx|js|cjs|mjs|json|html|ya?ml|service|sh|conf|py)|file)$/i;
const SKIPPED = /(?:^|\/)(?:node_modules|fixtures|package-lock\.json|installCommands\.test\.ts)(?:\/|$)/;

/** Matches commands that install packages by name; captures their arguments. */
const INSTALLS =
  /\b(?:(?:npm|pnpm|yarn|bun)\s+(?:install|i|add|exec|x|dlx|create|update|upgrade|view|pack|global\s+add)|npx|pnpx|bunx)\s+([^`'"|;&()\n]*)/g;
/** Matches the bare package name, optionally with a version or a tag. */
const BY_NAME = /^floodgate(?:@\S*)?[.,:]?$/;
/** Matches arguments with which a command uses an installed package or a local file. */
const IS_LOCAL = /^(?:--offline|--no-install|\S+\.tgz)$/;
/** Matches other references to the registry: CDNs, specifiers, dependencies of a package.json. */
const OTHER =
  /(?:unpkg\.com|esm\.sh|esm\.run|jsr\.io|jsdelivr\.net\/npm|npmjs\.(?:com|org)(?:\/package)?)\/floodgate\b|\bnpm:floodgate\b|"floodgate"\s*:\s*"(?:[\^~*]|latest)/g;

/** Returns the parts of a text that would download Floodgate from the registry by its name. */
function fetchedByName(text: string): string[] {
  // Commands may continue after a backslash, or be wrapped in a code span.
  const joined = text
    .replace(/\\\n\s*/g, ' ')
    .replace(/`[^`\n]+\n[^`\n]+`/g, (span) => span.replace(/\s*\n[\s*/#]*/g, ' '));
  const commands = [...joined.matchAll(INSTALLS)].filter(([, rest = '']) => {
    const words = rest.split(/\s+/).filter((word) => word !== '');
    return words.some((word) => BY_NAME.test(word)) && !words.some((word) => IS_LOCAL.test(word));
  });
  return [...commands, ...joined.matchAll(OTHER)].map(([found]) => found.trim());
}

const files = [
  ...readdirSync(root).filter((file) => /\.(?:md|json)$/.test(file)),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  ),
].filter((file) => TEXT.test(file) && !SKIPPED.test(file) && statSync(root + file).isFile());

describe('an install of Floodgate by its registry name', () => {
  it('is in no text of the repository', () => {
    const found = files.flatMap((file) => {
      const text = readFileSync(root + file, 'utf8');
      return fetchedByName(text).map((command) => `${file}: ${command}`);
    });
    expect(files.length).toBeGreaterThan(1_000);
    expect(found).toEqual([]);
  });

  it.each([
    'npm install floodgate',
    'Run `npm install floodgate`.',
    'npm i -g floodgate@latest',
    'npm install --global lmdb floodgate',
    'npx floodgate dev',
    'npx --yes floodgate@0.1.0 dev',
    'npx -p floodgate -p @foundry-rs/anvil floodgate dev',
    'npm exec -- floodgate dev',
    'pnpm dlx floodgate',
    'yarn add floodgate',
    'bunx floodgate',
    'npm install \\\n  floodgate',
    'of the package (`npm install\n * floodgate`)',
    'https://unpkg.com/floodgate@0.1.0/dist/exports/client.js',
    '"dependencies": { "floodgate": "^0.1.0" }',
  ])('is found in %j', (text) => {
    expect(fetchedByName(text)).toHaveLength(1);
  });

  it.each([
    'npm install ./floodgate-0.1.0.tgz',
    'npm install --global ./floodgate-0.1.0.tgz @foundry-rs/anvil',
    'npx -p ./floodgate-0.1.0.tgz -p @foundry-rs/anvil floodgate dev',
    'npm ci && npm run build && npm install --global "$(npm pack)"\nfloodgate start',
    'npm install --global ./floodgate-0.1.0.tgz\n$ floodgate --version',
    'npm start -- --port 9000',
    'npm run floodgate -- status',
    "import { client } from 'floodgate/client'",
    '"bin": { "floodgate": "dist/bundle/floodgate.js" }',
  ])('is not found in %j', (text) => {
    expect(fetchedByName(text)).toEqual([]);
  });
});
