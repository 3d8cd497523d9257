// Makes dist/ of src/. Run by `npm run build`.
import { compileProgram } from './compile.js';

process.exitCode = compileProgram();
