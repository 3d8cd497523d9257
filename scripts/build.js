// Builds the shipped files from src/ and console/: dist/bundle (the program) and dist/exports (floodgate/client and
// floodgate/traces). dist/ itself contains the modules compiled one by one. Run by `npm run build`; --compile-only
// skips the bundles.
import { bundleExports, bundleProgram } from './bundle.js';
import { compileProgram } from './compile.js';
import { buildPages } from './pages.js';

process.exitCode = compileProgram();
if (process.exitCode === 0 && !process.argv.includes('--compile-only')) {
  await buildPages();
  await bundleProgram('dist/bundle', { floodgate: 'src/cli/main.ts' });
  process.exitCode = await bundleExports('dist/exports');
}
