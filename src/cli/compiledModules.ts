import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import Module, { createRequire, isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { constants, Script } from 'node:vm';
import { holdNewSpace, underUsualFlags } from './v8Flags.ts';

/** Before Node 22 every source that comes here is CommonJS. */
const SAYS_NO_FORMAT = process.version.startsWith('v20.');
const DIGEST_BYTES = 32;
const digestOf = (content: string | Uint8Array): Buffer => createHash('sha256').update(content).digest();

type Source = [content: string, filename: string, format?: string];
type Compile = (this: NodeJS.Module, ...source: Source) => unknown;

/**
 * Keeps the compiled code of CommonJS modules in a folder, and takes it from there. Node 22 and later can do so by themselves, but keep a module as
 * it is before it runs: its functions are compiled anew at each start.
 */
export class CompiledModules {
  readonly #folder: string;
  readonly #unsaved = new Map<string, Script>();

  private constructor(folder: string) {
    // V8 takes no code of another version of itself, of other flags or for another processor.
    this.#folder = join(folder, `${process.version}-${cachedDataVersionTag()}`);
  }

  /** From now on. Answers what writes the code of those modules whose code was not there. */
  static keepIn(folder: string): () => void {
    // Where Node keeps the sources' maps or counts what runs it must compile itself.
    if (isWatched()) return () => undefined;
    const modules = new CompiledModules(folder);
    // Not in Node's types.
    const prototype = Module.prototype as unknown as { _compile: Compile };
    const compileAnew = prototype._compile;
    prototype._compile = function (...source) {
      const [content, filename, format] = source;
      // From Node 22 on a source may be of either kind, which it finds out itself where nothing says.
      if (format !== 'commonjs' && !SAYS_NO_FORMAT) return compileAnew.apply(this, source);
      const run = underUsualFlags(() => modules.#compile(content, filename)).runInThisContext();
      holdNewSpace();
      return run.call(this.exports, this.exports, requireOf(this), this, filename, dirname(filename));
    };
    return () => underUsualFlags(() => modules.#save());
  }

  #compile(content: string, filename: string): Script {
    // Of a source V8 compares the length alone.
    const name = digestOf(content).toString('hex');
    const cachedData = this.#read(name);
    const script = new Script(Module.wrap(content.replace(/^#!.*/, '')), {
      filename,
      ...(cachedData && { cachedData }),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    if (cachedData === undefined || script.cachedDataRejected) this.#unsaved.set(name, script);
    return script;
  }

  /** V8 trusts the code that it is given: what a power cut left of a file would end the process, at each start. */
  #read(name: string): Buffer | undefined {
    let kept: Buffer;
    try {
      kept = readFileSync(join(this.#folder, name));
    } catch {
      return undefined;
    }
    const code = kept.subarray(DIGEST_BYTES);
    return digestOf(code).equals(kept.subarray(0, DIGEST_BYTES)) ? code : undefined;
  }

  #save(): void {
    const scripts = [...this.#unsaved];
    this.#unsaved.clear();
    if (scripts.length === 0) return;
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      for (const [name, script] of scripts) this.#write(name, script.createCachedData());
    } catch {
      // A full disk: the program is compiled at the next start, too.
    }
  }

  #write(name: string, code: Buffer): void {
    const file = join(this.#folder, name);
    const part = `${file}.${process.pid}`;
    writeFileSync(part, Buffer.concat([digestOf(code), code]), { mode: 0o600 });
    renameSync(part, file);
  }
}

/** Not made where the source is at hand: what a function can see is kept as long as it is, and this one is for ever. */
function requireOf(module: NodeJS.Module): NodeJS.Require {
  const load = (id: string): unknown =>
    isBuiltin(id) ? underUsualFlags(() => module.require(id)) : module.require(id);
  return Object.assign(load, createRequire(module.filename));
}

const isWatched = (): boolean => process.sourceMapsEnabled || process.env['NODE_V8_COVERAGE'] !== undefined;
