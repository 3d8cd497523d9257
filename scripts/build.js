// Makes what is shipped, of src/ and console/: dist/bundle (the program) and dist/exports (floodgate/client, floodgate/traces), and before them dist/ itself, compiled
// file by file. Run by `npm run build`; with --compile-only it stops before the bundles.
import { bundleLibrary, bundleProgram } from './bundle.js';
import { compileProgram } from './compile.js';
import { buildConsole } from './console.js';

process.exitCode = compileProgram();
if (process.exitCode === 0 && !process.argv.includes('--compile-only')) {
  await buildConsole();
  await bundleProgram('dist/bundle', { floodgate: 'src/cli/main.ts' });
  process.exitCode = await bundleLibrary('dist/exports');
}
