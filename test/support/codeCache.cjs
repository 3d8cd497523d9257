// Starts the program as it is shipped (test/support/build.ts puts this file in dist/.tests, under the name of PROGRAM) with the code
// that V8 compiled of it in an earlier run. Where V8 does not take that code, it compiles anew.
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join } = require('node:path');
const { deserialize, serialize, setFlagsFromString } = require('node:v8');
const { constants, Script } = require('node:vm');

const CACHE = join(__dirname, 'compiled');
const compiled = existsSync(CACHE) ? deserialize(readFileSync(CACHE)) : new Map();
const scripts = new Map();

Module.prototype._compile = function (content, filename) {
  const script = new Script(Module.wrap(content.replace(/^#!.*/, '')), {
    filename,
    cachedData: compiled.get(filename),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  scripts.set(filename, script);
  const run = script.runInThisContext();
  const load = Object.assign((id) => this.require(id), Module.createRequire(filename));
  return run.call(this.exports, this.exports, load, this, filename, dirname(filename));
};

// It keeps none of its own.
process.env['NODE_DISABLE_COMPILE_CACHE'] = '1';

// At its end V8 has also compiled the functions that were called.
if (process.env['KEEP_COMPILED_CODE'] !== undefined)
  process.once('exit', () => {
    // As it was when the program was loaded: V8 takes no code that was kept under other flags.
    setFlagsFromString('--heap-growing-percent=0');
    writeFileSync(
      CACHE,
      serialize(new Map([...scripts].map(([name, script]) => [name, script.createCachedData()]))),
    );
  });

require('../bundle/floodgate.js');
