// Starts the shipped program with code that V8 compiled in an earlier run; test/support/build.ts copies this file
// into dist/.tests under the name of PROGRAM. If V8 rejects the stored code, it compiles the source again.
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

// The program must not use Node's own compile cache.
process.env['NODE_DISABLE_COMPILE_CACHE'] = '1';

// At exit, V8 has also compiled the functions that were called.
if (process.env['KEEP_COMPILED_CODE'] !== undefined)
  process.once('exit', () => {
    // Restores the flag's value at load time, because V8 rejects code stored under other flags.
    setFlagsFromString('--heap-growing-percent=0');
    writeFileSync(
      CACHE,
      serialize(new Map([...scripts].map(([name, script]) => [name, script.createCachedData()]))),
    );
  });

require('../bundle/floodgate.js');
