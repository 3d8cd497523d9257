// Writes the pages of docs/ that are made from the code. Run by `npm run docs`, which compiles first; tests see to it
// that nobody forgets.
import { writeFileSync } from 'node:fs';
import { configurationPage } from '../dist/config/index.js';
import { writeArchitecture } from './architecture.js';

writeFileSync(new URL('../docs/configuration.md', import.meta.url), configurationPage());
writeArchitecture();
